import type { Approximation } from '../../tasks/record/task.entity.ts';
import { definitionOf, type InputImage, type ProviderRequest } from '../contract/provider.ts';
import type { Slot } from './slots.ts';

/** One way to pass a request's images to a workflow. */
export interface ImageRoles {
  /** The image of each slot. `of` finds it in the request, once the images are fetched. */
  images: { slot: Slot; of: (images: ProviderRequest['images']) => InputImage | null | undefined }[];
  approximations: Approximation[];
}

const reference = (k: number): ImageRoles['images'][number] => ({
  slot: `image_${k}`,
  of: ({ references }) => references[k - 1],
});
const lastFrame: ImageRoles['images'][number] = { slot: 'last_frame', of: (images) => images.lastFrame };
const mask: ImageRoles['images'][number] = { slot: 'mask', of: (images) => images.mask };
const firstFrame: ImageRoles['images'][number] = { slot: 'first_frame', of: ({ firstFrame }) => firstFrame };

/** The first frame as a reference image, for a workflow without a slot for a first frame. */
const firstFrameAsReference: ImageRoles['images'][number] = { slot: 'image_1', of: firstFrame.of };
const NOT_FIRST: Approximation = {
  param: 'first_frame_image_url',
  requested: 'first_frame',
  used: 'reference_image',
};

/**
 * The ways to pass the images of a request to a workflow. Reads only the input, because the images may not be fetched
 * yet.
 * @returns the exact way first, then the approximations
 */
export function imageRoles(request: ProviderRequest): ImageRoles[] {
  const { kind, input } = request;
  if (kind === 'image') {
    const count = input.reference_images?.length ?? 0;
    const references = Array.from({ length: count }, (_, i) => reference(i + 1));
    return [{ images: input.mask === undefined ? references : [...references, mask], approximations: [] }];
  }
  const mode = input.reference_mode ?? 'omni';
  const hasFirst = input.first_frame_image_url !== undefined;
  if (input.last_frame_image_url !== undefined) {
    const others = input.reference_image_url === undefined ? [] : [reference(1)];
    return [{ images: [...others, firstFrame, lastFrame], approximations: [] }];
  }
  if (input.reference_image_url !== undefined)
    return hasFirst ? both() : [{ images: [reference(1)], approximations: [] }];
  if (!hasFirst) return [{ images: [], approximations: [] }];

  const near = (used: string): Approximation[] => [{ param: 'reference_mode', requested: mode, used }];
  const asFirstFrame = (approximations: Approximation[]): ImageRoles => ({ images: [firstFrame], approximations });
  const asReference = (approximations: Approximation[]): ImageRoles => ({
    images: [firstFrameAsReference],
    approximations,
  });
  const guided = definitionOf(request)?.guidance?.loneFirstFrame[mode] ?? { as: 'first_frame' };
  const notes = guided.nearest === undefined ? [] : near(guided.nearest);
  if (guided.as === 'reference') return [asReference(notes), asFirstFrame(near('first_frame'))];
  // Only the mode omni leaves the role of the image open.
  return mode === 'omni' ? [asFirstFrame(notes), asReference([NOT_FIRST])] : [asFirstFrame(notes)];
}

function both(): ImageRoles[] {
  const second: ImageRoles['images'][number] = { slot: 'image_2', of: ({ references }) => references[0] };
  return [
    { images: [reference(1), firstFrame], approximations: [] },
    { images: [firstFrameAsReference, second], approximations: [NOT_FIRST] },
  ];
}

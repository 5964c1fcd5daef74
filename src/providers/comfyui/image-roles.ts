import type { Approximation } from '../../tasks/task.entity.ts';
import type { InputImage, ProviderRequest } from '../provider.ts';
import type { Slot } from './slots.ts';

/** One way to hand a request's images to a workflow. */
export interface ImageRoles {
  /** Which image goes into which slot; read from the request once its images are fetched. */
  images: { slot: Slot; of: (images: ProviderRequest['images']) => InputImage | null | undefined }[];
  approximations: Approximation[];
}

const reference = (k: number): ImageRoles['images'][number] => ({
  slot: `image_${k}`,
  of: ({ references }) => references[k - 1],
});
const firstFrame: ImageRoles['images'][number] = { slot: 'first_frame', of: ({ firstFrame }) => firstFrame };

/** The first frame, handed over as a reference. */
const opening: ImageRoles['images'][number] = { slot: 'image_1', of: firstFrame.of };
const NOT_FIRST: Approximation = {
  param: 'first_frame_image_url',
  requested: 'first_frame',
  used: 'reference_image',
};

/** By the input alone, since nothing may be fetched yet. @returns the exact way first, then those that only come near */
export function imageRoles({ kind, model, input }: ProviderRequest): ImageRoles[] {
  if (kind === 'image') {
    const count = input.reference_images?.length ?? 0;
    return [{ images: Array.from({ length: count }, (_, i) => reference(i + 1)), approximations: [] }];
  }
  const mode = input.reference_mode ?? 'omni';
  const hasFirst = input.first_frame_image_url !== undefined;
  if (input.reference_image_url !== undefined)
    return hasFirst ? both() : [{ images: [reference(1)], approximations: [] }];
  if (!hasFirst) return [{ images: [], approximations: [] }];

  const near = (used: string): Approximation[] => [{ param: 'reference_mode', requested: mode, used }];
  const asFirstFrame = (approximations: Approximation[]): ImageRoles => ({ images: [firstFrame], approximations });
  const asReference = (approximations: Approximation[]): ImageRoles => ({ images: [opening], approximations });
  if (mode === 'first_frame') return [asFirstFrame([])];
  // There is no field for the last frame, and none for further key frames.
  if (mode === 'first_last') return [asFirstFrame(near('first_frame'))];
  if (mode === 'multi_frame') return [asReference(near('omni')), asFirstFrame(near('first_frame'))];
  // seedance-2 has a field of its own for references, so there the first frame is meant as one.
  return model === 'sora-2'
    ? [asReference([]), asFirstFrame(near('first_frame'))]
    : [asFirstFrame([]), asReference([NOT_FIRST])];
}

function both(): ImageRoles[] {
  const second: ImageRoles['images'][number] = { slot: 'image_2', of: ({ references }) => references[0] };
  return [
    { images: [reference(1), firstFrame], approximations: [] },
    { images: [opening, second], approximations: [NOT_FIRST] },
  ];
}

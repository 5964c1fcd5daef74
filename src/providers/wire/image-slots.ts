import { slotValues } from '../contract/slot-values.ts';
import { type InputImage, type ProviderRequest, type Run, UnsupportedRequest } from '../contract/provider.ts';
import { eachText, type SlotValue, slotsOf, type TemplateSlot } from '../templates/template.ts';
import { withDeclaredMask } from './alpha-mask.ts';
import { dataUrl, InlineImage } from './inline-image.ts';

/**
 * The values of a request's slots, images included. An image is an `InlineImage`, which is read while it is sent, or a
 * link.
 */
export function slotValuesWithImages(request: ProviderRequest, index = 0): SlotValue {
  const others = slotValues(request, index);
  return (slot) => {
    const images = imagesOf(request, slot.name);
    if (images === null) return others(slot);
    if (images.length === 0) return undefined;
    const values = images.map((image) => inline(image, slot));
    return slot.name === 'reference_images' ? values : values[0];
  };
}

/** @returns the images of a slot, empty if the request has none; null if the slot is not for images */
export function imagesOf({ images }: ProviderRequest, name: string): readonly InputImage[] | null {
  const one = (image: InputImage | null | undefined) => (image ? [image] : []);
  switch (name) {
    case 'reference_images':
      return images.references;
    case 'reference_image_url':
      return images.references.slice(0, 1);
    case 'first_frame_image_url':
      return one(images.firstFrame);
    case 'last_frame_image_url':
      return one(images.lastFrame);
    case 'mask':
      return one(images.mask);
  }
  return null;
}

/** The names of the image slots in a template, in the order in which they first occur. */
export function imageNamesIn(template: unknown): string[] {
  const names = new Set<string>();
  eachText(template, (text) => {
    for (const { name } of slotsOf(text)) if (IMAGES.has(name)) names.add(name);
  });
  return [...names];
}

const IMAGES: ReadonlySet<string> = new Set([
  'reference_images',
  'reference_image_url',
  'first_frame_image_url',
  'last_frame_image_url',
  'mask',
]);

/**
 * The value of an image slot; undefined for a link that `readyImages` has not made yet.
 * @throws UnsupportedRequest for a form that JSON cannot have, such as `file`
 */
function inline(image: InputImage, { name, form }: TemplateSlot): InlineImage | string | undefined {
  if (form === null || form === 'data') return dataUrl(image);
  if (form === 'base64') return new InlineImage(image);
  if (form === 'url') return image.url;
  throw new UnsupportedRequest(name, `An image cannot be sent as ${form} here.`);
}

/**
 * The request with its images ready to be sent: the mask in the form that the binding declares, and a link for each
 * image whose slot in the template has the form `url`.
 * @returns the same request if there is nothing to do
 */
export async function readyImages(
  given: ProviderRequest,
  template: unknown,
  run: Pick<Run, 'linkTo'>,
): Promise<ProviderRequest> {
  const request = await withDeclaredMask(given);
  const names = namesSentAsUrl(template);
  if (names.size === 0) return request;
  const { images } = request;
  const linked = async (name: string, image: InputImage | null | undefined) =>
    image && names.has(name) ? { ...image, url: await run.linkTo(image) } : image;
  const referenced = names.has('reference_images') ? 'reference_images' : 'reference_image_url';
  const references: InputImage[] = [];
  for (const image of images.references) references.push((await linked(referenced, image))!);
  return {
    ...request,
    images: {
      references,
      firstFrame: (await linked('first_frame_image_url', images.firstFrame)) ?? null,
      lastFrame: await linked('last_frame_image_url', images.lastFrame),
      mask: await linked('mask', images.mask),
    },
  };
}

function namesSentAsUrl(template: unknown): Set<string> {
  const names = new Set<string>();
  eachText(template, (text) => {
    for (const { name, form } of slotsOf(text)) if (form === 'url') names.add(name);
  });
  return names;
}

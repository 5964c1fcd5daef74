import { slotValues } from '../contract/slot-values.ts';
import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { eachText, type SlotValue, slotsOf, type TemplateSlot } from '../templates/template.ts';
import { dataUrl, InlineImage } from './inline-image.ts';

/** The slots of a request, images included: as `InlineImage`s, which are read while they are sent. */
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

/** null: the slot is no image */
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

/** The images that a template names, in its order. */
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

function inline(image: InputImage, { name, form }: TemplateSlot): InlineImage {
  if (form === null || form === 'data') return dataUrl(image);
  if (form === 'base64') return new InlineImage(image);
  throw new UnsupportedRequest(name, `An image cannot be sent as ${form} yet.`);
}

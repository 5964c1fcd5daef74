import type { Model } from './model.ts';
import type { ParametersSchema } from './parameters.ts';

/**
 * A request field that names an image, as a URL or by the id of a file: `reference_images[2]`, `first_frame_image_url`.
 */
export interface ImageUrl {
  param: string;
  url: string;
}

/**
 * The fields that name images, one or a list, by the schema that marks them. Kept, because every creation asks for
 * them.
 */
const imageFields = new WeakMap<ParametersSchema, readonly string[]>();

function imageFieldsOf({ parameters }: Model): readonly string[] {
  const known = imageFields.get(parameters);
  if (known) return known;
  const marked = Object.entries(parameters.properties).filter(
    ([, { format, items }]) => format === 'image' || items?.format === 'image',
  );
  const fields = marked.map(([field]) => field);
  imageFields.set(parameters, fields);
  return fields;
}

/** The image URLs of a request in catalogue order. The model's schema marks their fields with `format: image`. */
export function imageUrlsOf(model: Model, input: object): ImageUrl[] {
  const found: ImageUrl[] = [];
  for (const param of imageFieldsOf(model)) {
    const value = (input as Record<string, string | string[] | undefined>)[param];
    if (typeof value === 'string') found.push({ param, url: value });
    else value?.forEach((url, index) => found.push({ param: `${param}[${index}]`, url }));
  }
  return found;
}

/** A copy of the input with other image URLs. @param replacement returns null to keep one */
export function replaceImageUrls<Input extends object>(
  model: Model,
  input: Input,
  replacement: (image: ImageUrl) => string | null,
): Input {
  const replaced = { ...input } as Record<string, unknown>;
  for (const image of imageUrlsOf(model, input)) {
    const other = replacement(image);
    if (other === null) continue;
    const [, list, index] = /^(\w+)\[([0-9]+)\]$/.exec(image.param) ?? [];
    if (list === undefined) replaced[image.param] = other;
    else replaced[list] = (replaced[list] as string[]).with(Number(index), other);
  }
  return replaced as Input;
}

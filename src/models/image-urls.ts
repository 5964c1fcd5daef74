import type { Model } from './model.ts';

/** A request field that holds an image URL: `reference_images[2]`, `first_frame_image_url`. */
export interface ImageUrl {
  param: string;
  url: string;
}

/** The image URLs of a request in catalogue order. The model's schema marks their fields with `format: uri`. */
export function imageUrlsOf(model: Model, input: object): ImageUrl[] {
  const found: ImageUrl[] = [];
  for (const [param, schema] of Object.entries(model.parameters.properties)) {
    const value = (input as Record<string, unknown>)[param];
    if (value === undefined) continue;
    if (schema.format === 'uri') found.push({ param, url: value as string });
    if (schema.items?.format === 'uri') {
      for (const [index, url] of (value as string[]).entries()) found.push({ param: `${param}[${index}]`, url });
    }
  }
  return found;
}

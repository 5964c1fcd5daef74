import type { Model } from './model.ts';

/** A field of a request that holds the address of an image, as `param` names it, and that address. */
export interface ImageUrl {
  param: string;
  url: string;
}

/** The image addresses in a request, in catalogue order. Which fields hold them, the model's schema says (`format: uri`). */
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

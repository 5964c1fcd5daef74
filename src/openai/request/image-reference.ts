import { invalid } from './fields.ts';
import type { RequestImage } from './uploaded-images.ts';

/** Reads an image that a field gives as `{image_url}` or `{file_id}`. */
export function readImageReference(given: unknown, name: string): RequestImage {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(name, 'invalid_type', `${name} must be an object with image_url or file_id.`);
  }
  const fields = Object.entries(given).filter(([, value]) => value !== null);
  const unknown = fields.find(([field]) => field !== 'image_url' && field !== 'file_id')?.[0];
  if (unknown !== undefined) {
    throw invalid(`${name}.${unknown}`, 'unknown_parameter', `${name} takes image_url or file_id, and nothing else.`);
  }
  const [field] = fields;
  if (!field) throw invalid(name, 'missing_required_parameter', `${name} needs image_url or file_id.`);
  if (fields.length > 1) throw invalid(name, 'invalid_value', `${name} takes image_url or file_id, not both.`);
  const spelling = `${name}.${field[0]}`;
  if (typeof field[1] !== 'string') throw invalid(spelling, 'invalid_type', `${spelling} must be a string.`);
  return { reference: field[1], spelling };
}

import { isOwn, isWord } from '../../models/declaration/vocabulary.ts';
import type { Model } from '../../models/definition/model.ts';
import { takesSize } from '../../models/definition/pixel-rule.ts';
import { nearestSize, parsePixels, toPixels } from '../../models/definition/sizes.ts';
import { echo, type Fields, invalid } from './fields.ts';
import type { Translation } from './translation.ts';

/**
 * Fields of this service that OpenAI's API lacks. They are passed as they are, and the schema of the model checks them.
 */
const OURS = ['priority', 'parent_task_id'] as const;

export const takes = (model: Model, parameter: string): boolean =>
  Object.hasOwn(model.parameters.properties, parameter);

/**
 * Passes the parameters that OpenAI's API does not have. OpenAI's clients send them through `extra_body`. The schema of
 * the model refuses those that the model does not have. Call this after all other fields are read.
 */
export function passExtra(fields: Fields, model: Model, translation: Translation): void {
  const { properties } = model.parameters;
  const names = fields.untaken.filter((name) => isWord(name) || isOwn(name));
  pass(names, fields, translation);
  if (!fields.isForm) return;
  const { body } = translation;
  for (const name of names) if (name in body) body[name] = typed(body[name], properties[name]?.type);
}

/**
 * Converts a text of a form to the number or boolean that the schema asks for. A text that does not fit stays, and the
 * schema refuses it.
 */
function typed(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && NUMBER.test(value)) return Number(value);
  return type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value;
}

const NUMBER = /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/;

export const passOurs = (fields: Fields, translation: Translation): void => pass(OURS, fields, translation);

export function pass(names: readonly string[], fields: Fields, { body }: Translation): void {
  for (const name of names) {
    const value = fields.take(name);
    if (value !== undefined) body[name] = value;
  }
}

/**
 * Reads `size`, or `aspect_ratio` and `resolution`, which only this service has.
 * @param byDefault used when `size` is left out; undefined: the model's own default applies
 */
export function readSize(fields: Fields, model: Model, translation: Translation, byDefault?: string): void {
  const { body, approximations, spelling } = translation;
  const size = fields.text('size');
  const [ratio, resolution] = [fields.take('aspect_ratio'), fields.take('resolution')];
  if (ratio !== undefined || resolution !== undefined) {
    if (size !== undefined)
      throw invalid('size', 'invalid_value', 'Send size, or aspect_ratio and resolution, not both.');
    if (ratio !== undefined) body.aspect_ratio = ratio;
    if (resolution !== undefined) body.resolution = resolution;
    return;
  }
  const wanted = size ?? byDefault;
  if (wanted === undefined || (wanted === 'auto' && byDefault === undefined)) return;
  const pixels = parsePixels(wanted);
  const nearest = pixels && nearestSize(model.sizes, pixels);
  const isOfTable = nearest !== null && toPixels(nearest.size) === wanted;
  if (model.pixels && !isOfTable && (!nearest || (pixels && takesSize(model.pixels, pixels)))) {
    body.size = wanted; // the exact size, which is checked later
    return;
  }
  if (!nearest)
    throw invalid(
      'size',
      'invalid_value',
      `size must be one of ${sizesOf(model)} for ${model.id}, or near one of these ratios, not ${echo(wanted)}.`,
    );
  body.aspect_ratio = nearest.ratio;
  body.resolution = nearest.resolution;
  for (const name of ['aspect_ratio', 'resolution']) spelling.set(name, 'size');
  const used = toPixels(nearest.size);
  if (used !== wanted) approximations.push({ param: 'size', requested: wanted, used });
}

const sizesOf = ({ sizes }: Model): string =>
  Object.values(sizes)
    .flatMap((row) => Object.values(row).map(toPixels))
    .join(', ');

/**
 * Reads the metadata. The fields `user` and `safety_identifier` become metadata of the same names.
 * @returns safety_identifier
 */
export function readMetadata(fields: Fields, { body, spelling }: Translation): string | undefined {
  const metadata = fields.take('metadata');
  const [user, safetyIdentifier] = [fields.text('user'), fields.text('safety_identifier')];
  const pairs = Object.entries({ user, safety_identifier: safetyIdentifier }).filter(
    ([, value]) => value !== undefined,
  );
  const isMap = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  if (metadata === undefined && pairs.length === 0) return undefined;
  if (metadata !== undefined && !isMap) {
    body.metadata = metadata; // refused later, like any wrong metadata
    return safetyIdentifier;
  }
  for (const [name] of pairs) {
    if (isMap && Object.hasOwn(metadata, name))
      throw invalid(name, 'invalid_value', `Send ${name} or metadata.${name}, not both.`);
    spelling.set(`metadata.${name}`, name);
  }
  body.metadata = Object.fromEntries([...Object.entries(metadata ?? {}), ...pairs]);
  return safetyIdentifier;
}

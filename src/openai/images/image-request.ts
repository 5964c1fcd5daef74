import type { Model } from '../../models/definition/model.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import { pass, passExtra, passOurs, readMetadata, readSize, takes } from '../request/common-fields.ts';
import { Fields, invalid, unsupported } from '../request/fields.ts';
import type { ReadModel } from '../request/model-ids.ts';
import type { RequestBody } from '../request/request-body.ts';
import { AS_GIVEN } from '../request/request-schemas.ts';
import { readImageReference } from '../request/image-reference.ts';
import type { EditImages } from './edit-images.ts';
import type { RequestImage } from '../request/uploaded-images.ts';
import type { Translation } from '../request/translation.ts';

/** A translated request for pictures, and how to answer it. */
export interface ImageRequest extends Translation {
  /** The pictures to edit; they become `reference_images`. */
  images: readonly RequestImage[];
  /** Which part of the first picture to change; it becomes `mask`. */
  mask: RequestImage | null;
  /** How the names of the events begin: `image_generation` or `image_edit`. */
  name: string;
  responseFormat: 'b64_json' | 'url';
  stream: boolean;
  /** Maximum number of partial images in a stream. */
  partialImages: number;
  /** Returned unchanged in the answer. */
  safetyIdentifier: string | undefined;
}

const QUALITIES = ['auto', 'low', 'medium', 'high', 'standard', 'hd', 'xhigh', 'max'];
/** OpenAI's values that a model may lack, each with the nearest value that models have. */
const NEAREST_QUALITY: Readonly<Record<string, string>> = { hd: 'high', xhigh: 'high', max: 'high' };

/**
 * OpenAI's models that answer with a URL by default. Clients of these models may be unable to read any other answer.
 */
const ANSWERED_BY_URL: readonly unknown[] = ['dall-e-2', 'dall-e-3'];

const NOT_HERE = {
  complexity: 'Leave it out.',
  frame_count: 'Only still pictures are made here; use POST /v1/videos.',
  frame_duration_ms: 'Only still pictures are made here; use POST /v1/videos.',
  svg: 'Use png, jpeg or webp.',
};
const NOT_IN_EDITS = { markup: 'Describe in the prompt what to change.', reference_images: 'Use image.' };
const NOT_IN_GENERATIONS = { mask: 'Use POST /v1/images/edits.' };

/**
 * Translates a request for pictures. A field that has no equivalent is recorded as an approximation or refused.
 * @param edit the pictures to edit; null for a generation
 * @throws ApiError with `param` as the client wrote it
 */
export function translateImages(
  { fields: given, isForm }: Pick<RequestBody, 'fields' | 'isForm'>,
  readModel: ReadModel,
  edit: EditImages | null,
): ImageRequest {
  const fields = new Fields(given, isForm);
  const translation: Translation = { body: {}, approximations: [], spelling: new Map() };
  const { spelling } = translation;
  const model = readModel(fields, 'image', translation);
  pass(['prompt', 'n'], fields, translation);
  const mask = edit && readMask(fields, model, edit);
  if (mask) spelling.set('mask', mask.spelling);
  if (edit) {
    spelling.set('reference_images', 'image');
    for (const [at, image] of edit.images.entries()) spelling.set(`reference_images[${at}]`, image.spelling);
  }
  readSize(fields, model, translation);
  readQuality(fields, model, translation);
  readFormat(fields, model, translation);
  pass(AS_GIVEN, fields, translation);
  readBackground(fields, model, translation);
  readIgnored(fields, translation, edit !== null);
  const safetyIdentifier = readMetadata(fields, translation);
  passOurs(fields, translation);
  const answer = readAnswer(fields, given.model);
  fields.refuse({ ...NOT_HERE, ...(edit ? NOT_IN_EDITS : NOT_IN_GENERATIONS) });
  passExtra(fields, model, translation);
  fields.refuseUnknown();
  return {
    ...translation,
    ...answer,
    images: edit?.images ?? [],
    mask,
    safetyIdentifier,
    name: edit === null ? 'image_generation' : 'image_edit',
  };
}

function readMask(fields: Fields, model: Model, { mask }: EditImages): RequestImage | null {
  const given = fields.take('mask');
  if (!mask && given === undefined) return null;
  if (!takes(model, 'mask')) {
    throw unsupported('mask', `mask is not supported by ${model.id}. Describe in the prompt which part to change.`);
  }
  if (mask && given !== undefined) throw invalid('mask', 'invalid_value', 'mask may be given only once.');
  return mask ?? readImageReference(given, 'mask');
}

function readQuality(fields: Fields, model: Model, { body, approximations }: Translation): void {
  const given = fields.choice('quality', QUALITIES);
  if (given === undefined) return;
  const wanted = given === 'standard' ? 'auto' : given;
  const hasWord = valuesOf(model.parameters, 'quality').includes(wanted);
  const nearest = hasWord ? wanted : (NEAREST_QUALITY[wanted] ?? wanted);
  const used = takes(model, 'quality') ? nearest : 'auto';
  if (takes(model, 'quality')) body.quality = used;
  if (used !== wanted) approximations.push({ param: 'quality', requested: given, used });
}

/** Asks for png when the field is left out, because png is OpenAI's default. */
function readFormat(fields: Fields, model: Model, { body }: Translation): void {
  const format = fields.choice('output_format', ['png', 'jpeg', 'webp', 'gif', 'svg']) ?? 'png';
  if (format === 'gif' || format === 'svg') {
    throw unsupported('output_format', `output_format ${format} is not supported. Use png, jpeg or webp.`);
  }
  if (takes(model, 'output_format')) body.output_format = format;
}

function readBackground(fields: Fields, model: Model, { body }: Translation): void {
  const given = fields.choice('background', ['auto', 'opaque', 'transparent']);
  if (given === undefined) return;
  if (takes(model, 'background')) body.background = given;
  else if (given === 'transparent') {
    throw unsupported('background', 'background transparent is not supported. Use opaque.');
  }
}

/** Reads the fields that are not passed on. Values other than `auto` are recorded as approximations. */
function readIgnored(fields: Fields, { approximations }: Translation, isEdit: boolean): void {
  for (const name of ['moderation', 'style', ...(isEdit ? ['input_fidelity'] : [])]) {
    const given = fields.text(name);
    if (given !== undefined && given !== 'auto') approximations.push({ param: name, requested: given, used: 'auto' });
  }
}

function readAnswer(
  fields: Fields,
  askedModel: unknown,
): Pick<ImageRequest, 'responseFormat' | 'stream' | 'partialImages'> {
  const stream = fields.flag('stream') ?? false;
  const byDefault = ANSWERED_BY_URL.includes(askedModel) && !stream ? 'url' : 'b64_json';
  const responseFormat = (fields.choice('response_format', ['b64_json', 'url']) ?? byDefault) as 'b64_json' | 'url';
  const partialImages = fields.integer('partial_images', 0, 3) ?? 0;
  if (stream && responseFormat === 'url') {
    throw invalid(
      'response_format',
      'invalid_value',
      'A stream carries the pictures themselves: leave out response_format.',
    );
  }
  if (partialImages > 0 && !stream) throw unsupported('partial_images', 'partial_images needs stream: true.');
  return { responseFormat, stream, partialImages };
}

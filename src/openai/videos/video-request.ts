import type { Model } from '../../models/definition/model.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import { passExtra, passOurs, readMetadata, readSize } from '../request/common-fields.ts';
import { echo, Fields, invalid } from '../request/fields.ts';
import { readImageReference } from '../request/image-reference.ts';
import type { ReadModel } from '../request/model-ids.ts';
import type { RequestBody } from '../request/request-body.ts';
import type { RequestImage } from '../request/uploaded-images.ts';
import type { Translation } from '../request/translation.ts';

/** OpenAI's defaults. */
const DEFAULT_SIZE = '720x1280';
const DEFAULT_SECONDS = 4;
const NAME = 'input_reference';
const OTHER_NAMES = { duration: 'Use seconds.', first_frame_image_url: `Use ${NAME}.` };

export interface VideoRequest extends Translation {
  /** The picture that becomes `first_frame_image_url`. */
  firstFrame: RequestImage | null;
}

/**
 * Translates a request for a video.
 * @throws ApiError with `param` as the client wrote it
 */
export function translateVideo({ fields: given, files, isForm }: RequestBody, readModel: ReadModel): VideoRequest {
  const fields = new Fields(given, isForm);
  const translation: Translation = { body: {}, approximations: [], spelling: new Map() };
  const { body, spelling } = translation;
  const model = readModel(fields, 'video', translation);
  const prompt = fields.take('prompt');
  if (prompt !== undefined) body.prompt = prompt;
  const seconds = readSeconds(fields, model);
  if (seconds !== undefined) body.duration = seconds;
  spelling.set('duration', 'seconds');
  spelling.set('first_frame_image_url', NAME);
  readSize(fields, model, translation, model.declared ? undefined : DEFAULT_SIZE);
  const firstFrame = readFirstFrame(fields, model, translation, files);
  readMetadata(fields, translation);
  passOurs(fields, translation);
  fields.refuse(OTHER_NAMES);
  passExtra(fields, model, translation);
  fields.refuseUnknown();
  return { ...translation, firstFrame };
}

/** OpenAI's clients send `seconds` as text, many others as a number. A declared model has its own default. */
function readSeconds(fields: Fields, { declared }: Model): number | undefined {
  const given = fields.take('seconds') ?? (declared ? undefined : DEFAULT_SECONDS);
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isInteger(given)) return given;
  if (typeof given === 'string' && /^[0-9]{1,4}$/.test(given)) return Number(given);
  const shown = typeof given === 'string' ? `, not ${echo(given)}` : '';
  throw invalid('seconds', 'invalid_value', `seconds must be a whole number${shown}.`);
}

function readFirstFrame(
  fields: Fields,
  model: Model,
  { body, spelling }: Translation,
  files: RequestBody['files'],
): RequestImage | null {
  const mode = fields.take('reference_mode');
  if (mode !== undefined) body.reference_mode = mode;
  const unknown = files.find(({ field }) => field !== NAME);
  if (unknown)
    throw invalid(unknown.field, 'unknown_parameter', `There is no file ${unknown.field}. Allowed: ${NAME}.`);
  const given = fields.take(NAME);
  if (files.length + (given === undefined ? 0 : 1) > 1) {
    throw invalid(NAME, 'invalid_value', `${NAME} may be given only once.`);
  }
  const [file] = files;
  if (!file && given === undefined) return null;
  const image = file ? { file, spelling: NAME } : readImageReference(given, NAME);
  spelling.set('first_frame_image_url', image.spelling);
  const only = firstFrameMode(model);
  if (only !== undefined) body.reference_mode ??= only;
  return image;
}

/**
 * The mode in which a single image is the first frame: `first_frame`, or else the first mode whose name begins with
 * `first`. undefined if the model has neither.
 */
function firstFrameMode({ parameters }: Model): string | undefined {
  const modes = valuesOf(parameters, 'reference_mode');
  return modes.includes('first_frame') ? 'first_frame' : modes.find((mode) => mode.startsWith('first'));
}

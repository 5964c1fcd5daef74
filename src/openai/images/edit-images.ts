import type { FormFile } from '../../platform/http/multipart/multipart-body.ts';
import { invalid, unsupported } from '../request/fields.ts';
import { readImageReference } from '../request/image-reference.ts';
import type { RequestBody } from '../request/request-body.ts';
import type { RequestImage } from '../request/uploaded-images.ts';

const MASK = 'mask';
/** `image`, `image[]` and `image[0]`: clients write all three. */
const IMAGE = /^image(?:\[([0-9]{0,2})\])?$/;

export interface EditImages {
  /** The pictures to edit; they become `reference_images`. */
  images: RequestImage[];
  /** The mask of a form, if there is one. The mask of a JSON body stays among its fields. */
  mask: RequestImage | null;
}

/**
 * Takes the pictures to edit, and the mask of a form, out of the body: files of a form, or the field `images` of JSON.
 * @throws ApiError missing_required_parameter, unsupported_parameter, unknown_parameter, invalid_type, invalid_value
 */
export function takeEditImages(body: RequestBody): EditImages {
  const masks = body.isForm ? body.files.filter(({ field }) => field === MASK) : [];
  const images = body.isForm ? uploaded(body.files.filter((file) => !masks.includes(file))) : named(body.fields);
  const field = body.isForm ? 'image' : 'images';
  if (images.length === 0) throw invalid(field, 'missing_required_parameter', `${field} is required.`);
  if (masks.length > 1) throw invalid(MASK, 'invalid_value', 'mask may be given only once.');
  const [file] = masks;
  return { images, mask: file ? { file, spelling: MASK } : null };
}

function uploaded(files: FormFile[]): RequestImage[] {
  const found = files.map((file, at) => {
    const match = IMAGE.exec(file.field);
    if (file.field === 'markup')
      throw unsupported('markup', 'markup is not supported. Describe in the prompt what to change.');
    if (!match)
      throw invalid(
        file.field,
        'unknown_parameter',
        `There is no file ${file.field}. Allowed: image, image[], image[0] and so on, and mask.`,
      );
    return { file, index: match[1] ? Number(match[1]) : null, at };
  });
  const isNumbered = found.every(({ index }) => index !== null);
  const ordered = isNumbered ? found.toSorted((a, b) => a.index! - b.index! || a.at - b.at) : found;
  return ordered.map(({ file }, at) => ({
    file,
    spelling: isNumbered || (file.field === 'image' && found.length === 1) ? file.field : `image[${at}]`,
  }));
}

function named(fields: Record<string, unknown>): RequestImage[] {
  const given = fields.images ?? [];
  delete fields.images;
  if (!Array.isArray(given)) throw invalid('images', 'invalid_type', 'images must be an array.');
  return given.map((image, at) => readImageReference(image, `images[${at}]`));
}

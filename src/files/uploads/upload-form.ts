import { ApiError } from '../../errors/api-error.ts';
import type { Form, FormFile } from '../../platform/http/multipart/multipart-body.ts';
import { defineOwn } from '../../platform/schema/field-checks.ts';
import { checkInput } from '../../platform/http/input.pipe.ts';
import { MAX_FILENAME, UploadFormInput } from './file.inputs.ts';

/** `expires_after[seconds]`: the form's way to write a nested field. */
const NESTED = /^(\w+)\[(\w+)\]$/;

/**
 * Reads the form of one upload: a file named `file`, and text parts.
 * @throws ApiError as for a JSON body, and for any further file
 */
export function readUploadForm({ fields, files }: Pick<Form, 'fields' | 'files'>): {
  file: FormFile;
  input: UploadFormInput;
} {
  const given: Record<string, unknown> = {};
  const seen = new Set<string>();
  for (const [name, text] of fields) {
    if (seen.has(name)) throw new ApiError('invalid_type', { param: name, message: `${name} may be given only once.` });
    seen.add(name);
    const [, outer, inner] = NESTED.exec(name) ?? [];
    if (outer === undefined || inner === undefined) defineOwn(given, name, text);
    else defineOwn(given, outer, { ...(Object.hasOwn(given, outer) ? (given[outer] as object) : {}), [inner]: text });
  }
  const input = checkInput(UploadFormInput, given);
  const other = files.find(({ field }) => field !== 'file');
  if (other) {
    const message = `There is no file parameter ${other.field}. Allowed: file.`;
    throw new ApiError('unknown_parameter', { param: other.field, message });
  }
  const [file] = files;
  if (!file) {
    throw new ApiError('missing_required_parameter', { param: 'file', message: 'file is required, as a file part.' });
  }
  if ((file.filename ?? '').length > MAX_FILENAME) {
    const message = `The name of the file must have at most ${MAX_FILENAME} characters.`;
    throw new ApiError('string_too_long', { param: 'file', message });
  }
  return { file, input };
}

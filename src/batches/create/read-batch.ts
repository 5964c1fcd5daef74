import { ApiError } from '../../errors/api-error.ts';
import { hasAtMost } from '../../platform/schema/code-points.ts';
import { ValidationPipe } from '../../platform/schema/validation.pipe.ts';
import { CreateBatchInput } from '../batch.inputs.ts';

/** What holds for a batch as a whole. `requests` is not yet checked. */
export type BatchSettings = Omit<CreateBatchInput, 'requests'> & { requests?: unknown };

const MAX_PAIRS = 16;
const MAX_KEY = 64;
const MAX_VALUE = 512;

const pipe = new ValidationPipe();

/**
 * Validates everything but the items, which have faults of their own.
 * @throws ApiError for the first fault
 */
export function readBatch({ requests, ...rest }: Record<string, unknown>): BatchSettings {
  const settings = pipe.transform(rest, { type: 'body', metatype: CreateBatchInput }) as BatchSettings;
  assertMetadata(settings.metadata ?? {});
  if (requests !== undefined && settings.input_file_id !== undefined) {
    const message = 'Send requests or input_file_id, not both.';
    throw new ApiError('invalid_value', { param: 'input_file_id', message });
  }
  if (requests === undefined && settings.input_file_id === undefined) {
    const message = 'requests or input_file_id is required.';
    throw new ApiError('missing_required_parameter', { param: 'requests', message });
  }
  return { ...settings, requests };
}

/** The bounds of the metadata of a task. */
function assertMetadata(metadata: Record<string, string>): void {
  const pairs = Object.entries(metadata);
  if (pairs.length > MAX_PAIRS) {
    const message = `metadata must have at most ${MAX_PAIRS} entries.`;
    throw new ApiError('too_many_items', { param: 'metadata', message });
  }
  for (const [key, value] of pairs) {
    const isBadText = [key, value].some((text) => text.includes('\0') || !text.isWellFormed());
    if (isBadText) throw new ApiError('invalid_unicode', { param: 'metadata' });
    if (key === '') throw new ApiError('invalid_value', { param: 'metadata', message: 'A key must not be empty.' });
    if (hasAtMost(key, MAX_KEY) && hasAtMost(value, MAX_VALUE)) continue;
    const message = `Keys of metadata have at most ${MAX_KEY} characters, values at most ${MAX_VALUE}.`;
    throw new ApiError('string_too_long', { param: 'metadata', message });
  }
}

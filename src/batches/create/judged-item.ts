import { ApiError } from '../../errors/api-error.ts';
import type { RequestImages } from '../../files/images/request-images.service.ts';
import type { PreparedGeneration } from '../../generation/accept/prepare-generations.service.ts';
import type { BatchItem } from '../../tasks/task-batches.service.ts';
import { FROM_API } from '../../tasks/task-origin.ts';
import { type BatchFault, MAX_SHOWN_FAULTS } from '../batch-fault.ts';
import type { GivenItem } from './read-items.ts';

/** An item with its verdict. */
export type JudgedItem = GivenItem & { index: number; verdict: PreparedGeneration | ApiError };

/** null for an invalid item */
export const imagesOf = ({ verdict }: JudgedItem): RequestImages | null =>
  verdict instanceof ApiError ? null : verdict.images;

/** null for an invalid item */
export function toBatchItem({ index, customId, verdict }: JudgedItem): BatchItem | null {
  if (verdict instanceof ApiError) return null;
  const { request, origin } = verdict;
  return { index, customId, request, origin: { ...FROM_API, ...origin, source: 'batch' } };
}

/** null for a valid item */
export function faultOf({ index, line, customId, verdict }: JudgedItem): BatchFault | null {
  if (!(verdict instanceof ApiError)) return null;
  const { code, param, message } = verdict;
  return { index, line, custom_id: customId, code, param, message };
}

export function batchInvalid(faults: BatchFault[], total: number): ApiError {
  const [first] = faults;
  const message = `${faults.length} of ${total} items are invalid, so nothing was created. Item ${first?.index}: ${first?.message}`;
  return new ApiError('batch_invalid', { message, errors: faults.slice(0, MAX_SHOWN_FAULTS) });
}

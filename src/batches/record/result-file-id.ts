import { TYPE_ID_SUFFIX } from '../../platform/schema/type-id.ts';

/** `output`: the items that succeeded. `errors`: all other items. */
export type ResultFileKind = 'output' | 'errors';

export const RESULT_FILE_ID = new RegExp(`^file_(${TYPE_ID_SUFFIX})_(output|errors)$`);

/** The id of a result file contains the suffix of the batch's id, so result files need no table. */
export const resultFileId = (batchId: string, kind: ResultFileKind): string =>
  `file_${batchId.slice('batch_'.length)}_${kind}`;

export function parseResultFileId(fileId: string): { batchId: string; kind: ResultFileKind } | null {
  const [, suffix, kind] = RESULT_FILE_ID.exec(fileId) ?? [];
  return suffix === undefined ? null : { batchId: `batch_${suffix}`, kind: kind as ResultFileKind };
}

import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

/** Names the field in what is wrong with its image. */
export async function atField<Result>(param: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400 || error.param === param) throw error;
    throw new ApiError(error.code, { param, message: `${param}: ${error.message}`, cause: error });
  }
}

const MESSAGES = {
  file_not_found: 'names no file of yours',
  file_expired: 'names a file that has expired',
  invalid_image: 'names a file that is no still image',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** What is wrong with a file that a field names. */
export function fault(code: keyof typeof MESSAGES, param: string): ApiError {
  return new ApiError(code, { status: 400, param, message: `${param} ${MESSAGES[code]}.` });
}

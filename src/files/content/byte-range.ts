import { ApiError } from '../../errors/api-error.ts';
import type { ByteRange } from '../../platform/storage/storage.ts';

/**
 * Parses a `Range` header (RFC 9110, 14.2).
 * @param size bytes of the whole file
 * @returns null for the whole file: no header, another unit, an invalid header, or several ranges, which a server may
 *   ignore
 * @throws ApiError range_not_satisfiable when no byte of the file is in the range
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null {
  const [, from, to] = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return null;

  // Number() turns a long string of digits into a large number, so its length needs no check.
  const last = size - 1;
  if (from === '') {
    const length = Number(to);
    if (length === 0 || size === 0) throw notSatisfiable(size);
    return { start: Math.max(0, size - length), end: last };
  }
  const start = Number(from);
  const end = to === '' ? last : Math.min(Number(to), last);
  if (to !== '' && Number(to) < start) return null; // an invalid header is ignored, unlike an unsatisfiable one
  if (start > last) throw notSatisfiable(size);
  return { start, end };
}

/**
 * Whether `If-Range` permits the range. A missing header permits it, and so does the exact tag of the file. A date
 * never does, because no answer has `Last-Modified`.
 */
export function isRangeCurrent(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

function notSatisfiable(size: number): ApiError {
  return new ApiError('range_not_satisfiable', {
    message: `The requested range lies outside the file of ${size} bytes.`,
    headers: { 'content-range': `bytes */${size}` },
  });
}

import { ApiError } from '../../errors/api-error.ts';
import type { ByteRange } from '../../platform/storage/storage.ts';

/**
 * What part of a file a `Range` header asks for (RFC 9110, 14.2).
 * @param size bytes of the whole file
 * @returns null for the whole: no header, another unit, a malformed one, or several ranges, which a server may ignore
 * @throws ApiError range_not_satisfiable when it lies outside the file
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null {
  const [, from, to] = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return null;

  // Number() of a long row of digits is merely large, so no length needs a check.
  const last = size - 1;
  if (from === '') {
    const length = Number(to);
    if (length === 0 || size === 0) throw outside(size);
    return { start: Math.max(0, size - length), end: last };
  }
  const start = Number(from);
  const end = to === '' ? last : Math.min(Number(to), last);
  if (to !== '' && Number(to) < start) return null; // invalid, not unsatisfiable
  if (start > last) throw outside(size);
  return { start, end };
}

/** May the range be honoured? `If-Range` wants the exact tag; a date never matches, since we send none. */
export function rangeStillMeant(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

function outside(size: number): ApiError {
  return new ApiError('range_not_satisfiable', {
    message: `The requested range lies outside the file of ${size} bytes.`,
    headers: { 'content-range': `bytes */${size}` },
  });
}

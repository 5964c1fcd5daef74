import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { exactly } from '../../platform/storage/exactly.ts';
import type { ByteRange } from '../../platform/storage/storage.ts';
import { isRangeCurrent, parseRange } from './byte-range.ts';
import type { FileContent } from './file-contents.ts';
import { FILE_POLICY } from './signed-request.ts';

/** The headers of an answer that do not describe the bytes. */
export interface FileTerms {
  disposition: string;
  cacheControl: string;
}

export const etagOf = (file: FileContent): string => `"${file.sha256}"`;

/** @throws ApiError range_not_satisfiable */
export const rangeOf = (file: FileContent, headers: IncomingHttpHeaders): ByteRange | null =>
  isRangeCurrent(headers['if-range'] as string | undefined, etagOf(file))
    ? parseRange(headers.range, file.bytes)
    : null;

/** Sets the headers that 200, 206 and 304 share. */
export function setFileHeaders(reply: FastifyReply, file: FileContent, terms: FileTerms): void {
  void reply.headers({
    'content-type': file.contentType,
    'accept-ranges': 'bytes',
    etag: etagOf(file),
    'content-disposition': terms.disposition,
    'cache-control': terms.cacheControl,
    'content-security-policy': FILE_POLICY,
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
}

/**
 * Fastify destroys the stream when the client goes away, and destroys the connection when the stream fails. The stream
 * fails if its length is not the announced length: otherwise the client could not tell where the next answer begins.
 */
export function sendBytes(
  reply: FastifyReply,
  file: Pick<FileContent, 'bytes'>,
  { range, bytes }: { range: ByteRange | null; bytes: Readable },
): FastifyReply {
  if (range) void reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.bytes}`);
  const length = range ? range.end - range.start + 1 : file.bytes;
  return reply.header('content-length', length).send(exactly(bytes, length));
}

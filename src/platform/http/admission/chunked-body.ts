import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ApiError } from '../../../errors/api-error.ts';
import { TinyChunks } from '../../run/tiny-chunks.ts';
import { answerOnResponse } from '../raw-reply.ts';
import { replaceBody } from '../request.ts';

/** Smaller chunks are joined, as far as they arrive together. */
const PIECE_BYTES = 16 * 1024;

/**
 * The body of a request with `Transfer-Encoding: chunked`. It reads from the start, even if no handler wants the body.
 * A stream that waits for its reader, or that limits only its bytes, would hold a Buffer of hundreds of bytes for each
 * chunk, however small the chunk is.
 */
class ChunkedBody extends Readable {
  private readonly tiny = new TinyChunks();
  private pieces: Buffer[] = [];
  private bytes = 0;
  private isRefused = false;

  /** @param refuse is called at most once, when the chunks are too tiny; then nothing more is read */
  constructor(
    private readonly raw: IncomingMessage,
    private readonly refuse: () => void,
  ) {
    super();
    this.on('error', () => undefined); // a client that disconnects while nobody reads
    raw.on('data', (chunk: Buffer) => this.add(chunk));
    raw.on('error', (error) => this.destroy(error));
    raw.on('end', () => {
      this.pass();
      this.push(null);
    });
  }

  override _read(): void {
    if (!this.isRefused) this.raw.resume();
  }

  private add(chunk: Buffer): void {
    if (this.isRefused) return;
    if (this.tiny.add(chunk.length)) {
      this.isRefused = true;
      this.pieces = [];
      this.raw.pause();
      this.raw.socket.pause();
      this.refuse();
      return;
    }
    if (this.pieces.push(chunk) === 1) setImmediate(() => this.pass());
    this.bytes += chunk.length;
    if (this.bytes >= PIECE_BYTES) this.pass();
  }

  private pass(): void {
    if (this.pieces.length === 0) return;
    const piece = this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces);
    this.pieces = [];
    this.bytes = 0;
    if (!this.push(piece)) this.raw.pause();
  }
}

/**
 * Limits the tiny chunks of a body, whether a handler reads the body or not. Call this before anything else sees the
 * request.
 */
export function boundChunks({ raw, id }: FastifyRequest, { raw: response }: FastifyReply): void {
  const body = new ChunkedBody(raw, () => {
    const refusal = new ApiError('bad_request', {
      message: 'The body comes in too many tiny chunks. Send it in larger ones.',
    });
    if (response.headersSent) raw.socket.destroy();
    else answerOnResponse(response, refusal, id);
    // Ends the reader of the body, if there is one. This waits until the answer has left, because the error would cut
    // the answer off.
    if (response.closed) body.destroy(refusal);
    else response.once('close', () => body.destroy(refusal));
  });
  replaceBody(raw, body);
  response.once('finish', () => body.resume()); // a client may send its whole body before it reads the answer
}

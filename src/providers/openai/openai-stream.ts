import { z } from 'zod';
import { isPlainJson } from '../../platform/schema/plain-json.ts';
import { anything, field, text } from '../wire/reply-schema.ts';

/** An event: `image_generation.partial_image`, `image_edit.completed` and so on, or `error`. */
const imageEvent = z.object({
  type: text(),
  b64_json: text(),
  /** Only in the last event. Its form is the same as in a reply without streaming. */
  usage: anything(),
  error: field(z.object({ code: text(), type: text(), message: text() })),
});

export interface StreamedError {
  code: string;
  message: string;
}

const NEWLINE = 10;
/** The longest line: the base64 of a picture and its JSON. */
const MAX_LINE_BYTES = 49 * 2 ** 20;
/** The most lines of a stream. A picture has a few lines, but some servers send an empty comment each second. */
const MAX_LINES = 10_000;

/** Reads the server-sent events of one picture while they arrive. Each event has its JSON on one line. */
export class PictureStream {
  /** The base64 of the picture; null until it has arrived. */
  completed: string | null = null;
  usage: unknown;
  error: StreamedError | null = null;
  /** The pieces of the line that is not complete. They are not joined yet, because a picture has megabytes. */
  private pieces: Buffer[] = [];
  private lineBytes = 0;
  private lines = 0;

  /** @param onPartial gets the base64 of each early stage */
  constructor(private readonly onPartial: (base64: string) => void) {}

  /**
   * Takes the next bytes of the stream.
   * @throws Error when a line is too long, or the stream has too many lines
   */
  readonly read = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.gather(chunk.subarray(from, end));
      this.lines += 1;
      if (this.lines > MAX_LINES) throw new Error(`The stream has more than ${MAX_LINES} lines.`);
      this.take(Buffer.concat(this.pieces));
      this.pieces = [];
      this.lineBytes = 0;
      from = end + 1;
    }
    if (from < chunk.length) this.gather(chunk.subarray(from));
  };

  private gather(piece: Buffer): void {
    this.lineBytes += piece.length;
    if (this.lineBytes > MAX_LINE_BYTES) throw new Error(`A line of the stream has more than ${MAX_LINE_BYTES} bytes.`);
    this.pieces.push(piece);
  }

  private take(line: Buffer): void {
    const { type, b64_json: base64, usage, error } = imageEvent.safeParse(jsonIn(line)).data ?? {};
    if (error) this.error = { code: `${error.code} ${error.type}`, message: error.message ?? '' };
    else if (base64 && type?.endsWith('.partial_image')) this.onPartial(base64);
    else if (base64 && type?.endsWith('.completed')) {
      this.completed = base64;
      this.usage = usage;
    }
  }
}

/** @returns undefined for a line without data, for invalid JSON, and for the end mark of some servers, `[DONE]` */
function jsonIn(bytes: Buffer): unknown {
  const line = bytes.toString();
  if (!line.startsWith('data:') || !isPlainJson(bytes)) return undefined;
  try {
    return JSON.parse(line.slice('data:'.length));
  } catch {
    return undefined;
  }
}

import { randomUUID } from 'node:crypto';
import { allocateOwned, free, own } from '../../platform/run/owned-bytes.ts';

/** The memory that is first reserved for a picture, in bytes. It grows by half when a picture needs more. */
const FIRST_BYTES = 256 * 1024;
const MAX_FIRST_BYTES = 8 * 1024 * 1024;
/** The most pictures that are decoded while they arrive. Later ones stay in the JSON. No request makes that many. */
const MAX_PICTURES = 64;
const QUOTE = 0x22;
/** The longest name of a field with the white space behind it, and the longest head of a data URL, in characters. */
const MAX_NAME = 64;
const MAX_HEAD = 128;

/**
 * Decodes the pictures in a JSON answer while it arrives, and replaces each by a token. So the base64 of a picture,
 * which has megabytes, never becomes a single string, and is not parsed as JSON.
 */
export class EmbeddedPictures {
  private readonly prefix = `picture-${randomUUID()}-`;
  private readonly pictures = new Map<string, Buffer>();
  private readonly opening: RegExp;
  /** The JSON around the pictures, in pieces. */
  private readonly json: Buffer[] = [];
  /** The end of the JSON so far, which is not searched yet: the name of the field may continue in the next chunk. */
  private rest: Buffer = Buffer.alloc(0);
  private current: DecodedText | null = null;
  private firstBytes = FIRST_BYTES;

  /**
   * @param field the field whose strings are pictures: base64, or a data URL as some servers send it
   * @param count the number of requested pictures
   */
  constructor(
    field: string,
    private readonly count: number,
  ) {
    this.opening = new RegExp(`("${field}"\\s*:\\s*")(?:data:[^,"]{0,${MAX_HEAD - 6}},)?`);
  }

  /**
   * @param bytes the size of the whole answer. With it, the memory of a picture is seldom too small while the picture
   *   grows
   */
  expect(bytes: number): void {
    this.firstBytes = Math.min(Math.ceil((bytes * 3) / 4 / this.count), MAX_FIRST_BYTES);
  }

  readonly read = (chunk: Buffer): void => {
    let left = chunk;
    while (left.length > 0) left = this.current ? this.readPicture(this.current, left) : this.readJson(left);
  };

  /** @returns the JSON with the tokens, in pieces */
  end(): Buffer[] {
    return [...this.json, this.rest];
  }

  /**
   * @param token a text from the JSON
   * @returns the picture that the token stands for; undefined if the text is no token
   */
  bytesOf(token: string): Buffer | undefined {
    return this.pictures.get(token);
  }

  /** @returns the bytes after the opening quote of a picture; empty if no picture begins in the chunk */
  private readJson(chunk: Buffer): Buffer {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    if (this.pictures.size === MAX_PICTURES) {
      this.json.push(bytes);
      this.rest = Buffer.alloc(0);
      return this.rest;
    }
    const text = bytes.toString('latin1');
    const match = this.opening.exec(text);
    const index = match?.index ?? Math.max(0, bytes.length - MAX_NAME);
    const from = index + (match?.[0].length ?? 0);
    // The head of a data URL may continue in the next chunk.
    const isWhole = match && (bytes.length - from >= MAX_HEAD || text.includes('"', from));
    this.json.push(bytes.subarray(0, isWhole ? index + match[1]!.length : index));
    this.rest = isWhole ? Buffer.alloc(0) : bytes.subarray(index);
    if (!isWhole) return Buffer.alloc(0);
    this.current = new DecodedText(this.firstBytes);
    return bytes.subarray(from);
  }

  /** @returns the bytes from the closing quote of the picture on; empty if the picture does not end in the chunk */
  private readPicture(picture: DecodedText, chunk: Buffer): Buffer {
    const end = chunk.indexOf(QUOTE);
    picture.write(chunk.toString('latin1', 0, end === -1 ? chunk.length : end));
    if (end === -1) return Buffer.alloc(0);
    const token = this.prefix + this.pictures.size;
    this.pictures.set(token, picture.end());
    this.json.push(Buffer.from(token));
    this.current = null;
    return chunk.subarray(end);
  }
}

/** Base64 inside a JSON string, decoded in pieces of any length. */
class DecodedText {
  private bytes: Buffer;
  private length = 0;
  /** Characters that are decoded together with later ones: part of a group of four, or of an escape sequence. */
  private pending = '';

  constructor(firstBytes: number) {
    this.bytes = allocateOwned(firstBytes);
  }

  write(piece: string): void {
    const text = withoutEscapes(this.pending + piece);
    if (this.decode(text)) return;
    // The text has characters that are not base64, such as line breaks. They shift the groups of four, so they are
    // removed.
    this.decode({ ...text, whole: text.whole.replace(/[^\w+/-]/g, '') });
  }

  /** Returns the decoded bytes, which the caller owns. */
  end(): Buffer {
    this.reserve(this.pending.length);
    this.length += this.bytes.write(this.pending, this.length, 'base64');
    if (this.length < this.bytes.length / 2) this.move(this.length);
    return own(this.bytes.subarray(0, this.length));
  }

  /** @returns false if the text has characters that are not base64. The picture is unchanged then */
  private decode({ whole, begun }: Escaped): boolean {
    const end = whole.length - (whole.length % 4);
    this.reserve((end / 4) * 3);
    const written = this.bytes.write(whole.slice(0, end), this.length, 'base64');
    const padding = whole.endsWith('==') ? 2 : Number(whole.endsWith('='));
    if (written < (end / 4) * 3 - padding) return false;
    this.length += written;
    this.pending = whole.slice(end) + begun;
    return true;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    this.move(Math.max(Math.ceil(1.5 * this.bytes.length), this.length + more));
  }

  private move(size: number): void {
    const next = allocateOwned(size);
    this.bytes.copy(next, 0, 0, this.length);
    free(this.bytes);
    this.bytes = next;
  }
}

interface Escaped {
  whole: string;
  /** The beginning of an escape sequence that continues in the next piece. */
  begun: string;
}

/**
 * Resolves escape sequences, because some servers write `\/`. Escaped white space is no part of the base64, so it is
 * dropped.
 */
function withoutEscapes(text: string): Escaped {
  if (!text.includes('\\')) return { whole: text, begun: '' };
  const [begun] = /\\(?:u[0-9a-f]{0,3})?$/i.exec(text) ?? [''];
  const whole = text
    .slice(0, text.length - begun.length)
    .replace(/\\u([0-9a-f]{4})|\\(.)/gi, (_, code?: string, char?: string) =>
      code ? String.fromCharCode(Number.parseInt(code, 16)) : char === '/' ? '/' : '',
    );
  return { whole, begun };
}

import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { InlineImage } from './inline-image.ts';
import { checkBeforeLastPiece } from './paid-call.ts';

/**
 * The most bytes that are read from an image at once. It is a multiple of 3, so that only the last piece gets padding.
 * A piece is encoded in 0.1 ms.
 */
const CHUNK_BYTES = 192 * 1024;

/** If a socket gets so many bytes at once, undici asks for no more before the kernel has taken them. */
const SOCKET_QUEUE_BYTES = 64 * 1024;

/** A body that is read from files while it is sent. It takes little memory, however large the images are. */
export interface StreamedBody {
  length: number;
  stream: Readable;
}

/** JSON in which each `InlineImage` is the base64 text of its file. */
export function streamJson(value: unknown): StreamedBody {
  const images: InlineImage[] = [];
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!(part instanceof InlineImage)) return part;
    images.push(part);
    return part.prefix + part.token;
  });
  return streamText(text, images);
}

/** @param text contains the tokens of the images */
export function streamText(text: string, images: readonly InlineImage[]): StreamedBody {
  const byToken = new Map(images.map((inline) => [inline.token, inline.image]));
  const parts = text.split(/(inline-image-[0-9a-f-]{36})/).map((part) => byToken.get(part) ?? Buffer.from(part));
  const lengths = parts.map((part) => (Buffer.isBuffer(part) ? part.length : Math.ceil(part.size / 3) * 4));
  const paths = [...new Set(parts.flatMap((part) => (Buffer.isBuffer(part) ? [] : part.path)))];
  async function* chunks(): AsyncGenerator<Buffer> {
    // All files are opened before the first byte is sent. So a paid call that outlives its run can still read them
    // after they are deleted.
    const files = new Map<string, FileHandle>();
    try {
      for (const path of paths) files.set(path, await open(path));
      for (const part of parts) {
        if (Buffer.isBuffer(part)) yield part;
        else yield* base64Of(files.get(part.path) as FileHandle, part.size);
      }
    } finally {
      await Promise.all([...files.values()].map((file) => file.close()));
    }
  }
  return { length: sum(lengths), stream: streamOf(chunks()) };
}

async function* base64Of(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
    if (bytesRead < bytes.length) throw new Error('A reference image has become shorter.');
    yield Buffer.from(bytes.toString('base64'), 'latin1');
  }
}

/**
 * A stream of the chunks, which reads one only when undici asks for it. `Readable.from` would read one ahead. In a paid
 * call, the last piece waits for the check of `checkBeforeLastPiece`.
 */
function streamOf(chunks: AsyncGenerator<Uint8Array>): Readable {
  const check = checkBeforeLastPiece();
  const pieces = check ? checkedBeforeLast(chunks, check) : chunks;
  return new Readable({
    highWaterMark: 0,
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      void pieces.return(undefined).catch(() => undefined); // closes the files
      done(error);
    },
  });
}

async function* checkedBeforeLast(
  chunks: AsyncGenerator<Uint8Array>,
  check: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let last: Uint8Array = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (last.length < SOCKET_QUEUE_BYTES) {
      last = Buffer.concat([last, chunk]);
    } else {
      yield last;
      last = chunk;
    }
  }
  await check();
  yield last;
}

/** The body of a form, as undici's `request` needs it. That function does not accept Node's own `FormData`. */
export function streamForm(form: FormData): StreamedBody & { contentType: string } {
  const boundary = `darkroom-${randomUUID()}`;
  const parts: (Buffer | Blob)[] = [];
  for (const [name, value] of form) {
    const isFile = typeof value !== 'string';
    const file = isFile
      ? `; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}`
      : '';
    parts.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${file}\r\n\r\n`),
      isFile ? value : Buffer.from(value.replace(/\r?\n|\r/g, '\r\n')),
      Buffer.from('\r\n'),
    );
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const part of parts) {
      if (Buffer.isBuffer(part)) yield part;
      else yield* part.stream();
    }
  }
  return {
    length: sum(parts.map((part) => (Buffer.isBuffer(part) ? part.length : part.size))),
    stream: streamOf(chunks()),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** Escapes a name in a form, as the HTML standard demands. */
const escaped = (name: string): string =>
  name.replace(/[\r\n"]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type FileAccess, useFileAccess } from './file-access.ts';

export * from './index.ts';

/** This entry for Node, Deno and Bun registers these functions, so that the client can also read and write files. */
const files: FileAccess = {
  async read(path) {
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new Error(`${path} cannot be read.`, { cause });
    });
    return new File([bytes], basename(path));
  },

  async write(path, bytes, sha256) {
    await mkdir(dirname(path), { recursive: true });
    const draft = `${path}.part`;
    const hash = createHash('sha256');
    try {
      await pipeline(
        Readable.fromWeb(bytes as Parameters<typeof Readable.fromWeb>[0]),
        async function* (chunks: AsyncIterable<Uint8Array>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(draft),
      );
      if (hash.digest('hex') !== sha256) throw new Error('The downloaded file is damaged: its SHA-256 differs.');
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  },
};

useFileAccess(files);

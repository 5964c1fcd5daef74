import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Digest {
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** Copies the source to the target, and hashes what it copies. */
export async function digestInto(source: Readable, target: Writable): Promise<Digest> {
  const digest = new RunningDigest();
  const through = (chunks: Readable): AsyncIterable<Buffer> => digest.of(chunks);
  await pipeline(source, through, target);
  return digest.result();
}

export async function digestFile(path: string): Promise<Digest> {
  const digest = new RunningDigest();
  for await (const _ of digest.of(createReadStream(path)));
  return digest.result();
}

/** @throws Error for the operator if the SHA-256 of the file is not the expected one */
export async function assertWhole(path: string, expected: Pick<Digest, 'sha256'>): Promise<void> {
  const { sha256 } = await digestFile(path);
  if (sha256 !== expected.sha256) throw new Error(`${path} is damaged: its SHA-256 is ${sha256}.`);
}

class RunningDigest {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.hash.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  result(): Digest {
    return { bytes: this.bytes, sha256: this.hash.digest('hex') };
  }
}

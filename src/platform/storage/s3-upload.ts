import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Bucket } from './s3-bucket.ts';
import type { StorageBody } from './storage.ts';

/**
 * The most attempts to send a body from a file. The SDK itself retries bodies from memory, but cannot rewind a stream.
 */
const ATTEMPTS = 3;

const MIB = 1_048_576;

/** Sizes in bytes. */
export interface PartSizes {
  /**
   * A longer body is sent in parts. Then only a failed part is sent again, and S3's limit of 5 GB per request does not
   * apply.
   */
  singleMax: number;
  part: number;
}

/** S3 permits 10,000 parts, so a file may have 156 GiB. */
export const PART_SIZES: PartSizes = { singleMax: 64 * MIB, part: 16 * MIB };

/** Maximum number of parts of one file that are sent at the same time. */
const PARTS_AT_ONCE = 4;

/** Key and type of an object to write. */
interface Target {
  Key: string;
  ContentType: string;
}

/** Byte offsets; `end` is exclusive. */
interface Section {
  start: number;
  end: number;
}

/** Writes one object. A failed write leaves no object, and removes its parts if the server still answers. */
export async function upload(bucket: S3Bucket, body: StorageBody, target: Target, sizes: PartSizes): Promise<void> {
  const bytes = Buffer.isBuffer(body) ? body.length : (await stat(body.path)).size;
  if (bytes > sizes.singleMax) return uploadInParts(bucket, body, target, sectionsOf(bytes, sizes.part));
  const { sdk, client, name } = bucket;
  const put = (Body: Buffer | Readable) =>
    client.send(new sdk.PutObjectCommand({ Bucket: name, ...target, Body, ContentLength: bytes }));
  await sending(body, { start: 0, end: bytes }, put);
}

async function uploadInParts(
  { sdk, client, name: Bucket }: S3Bucket,
  body: StorageBody,
  target: Target,
  sections: Section[],
): Promise<void> {
  const { Key } = target;
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, ...target }));
  const upload = { Bucket, Key, UploadId };
  const stopped = new AbortController();
  const tags: (string | undefined)[] = [];
  const waiting = [...sections.keys()].toReversed();

  const sendNext = async (): Promise<void> => {
    for (let nth = waiting.pop(); nth !== undefined; nth = waiting.pop()) {
      const part = { ...upload, PartNumber: nth + 1, ContentLength: lengthOf(sections[nth]!) };
      const { ETag } = await sending(body, sections[nth]!, (Body) => {
        stopped.signal.throwIfAborted();
        return client.send(new sdk.UploadPartCommand({ ...part, Body }), { abortSignal: stopped.signal });
      });
      tags[nth] = ETag;
    }
  };
  const lanes = Array.from({ length: PARTS_AT_ONCE }, sendNext);
  try {
    await Promise.all(lanes);
    const Parts = tags.map((ETag, nth) => ({ ETag, PartNumber: nth + 1 }));
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  } catch (error) {
    stopped.abort(error);
    await Promise.allSettled(lanes); // a part that arrives after the abort would be kept, and paid for
    // If this fails too, a lifecycle rule of the bucket removes the parts, if the operator has set one.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

/**
 * Sends a section. A section of a file is tried up to `ATTEMPTS` times, each time from its start. A section of a Buffer
 * is sent once: the SDK repeats a request whose bytes are in memory.
 */
async function sending<Sent>(
  body: StorageBody,
  { start, end }: Section,
  send: (bytes: Buffer | Readable) => Promise<Sent>,
): Promise<Sent> {
  if (Buffer.isBuffer(body)) return send(body.subarray(start, end));
  for (let attempt = 1; ; attempt++) {
    // An empty file has no last byte.
    const stream = createReadStream(body.path, { start, end: Math.max(start, end - 1) });
    try {
      return await send(stream);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    } finally {
      stream.destroy();
    }
  }
}

function sectionsOf(bytes: number, part: number): Section[] {
  const count = Math.ceil(bytes / part);
  return Array.from({ length: count }, (_, nth) => ({ start: nth * part, end: Math.min(bytes, (nth + 1) * part) }));
}

const lengthOf = ({ start, end }: Section): number => end - start;

import type { Readable } from 'node:stream';
import { connectBucket, type S3Bucket, type S3Limits } from './s3-bucket.ts';
import { PART_SIZES, type PartSizes, upload } from './s3-upload.ts';
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  type GetTerms,
  isKey,
  type PutTerms,
  type SignedPut,
  type Storage,
  type StorageBody,
  StoredFileMissing,
} from './storage.ts';

/** Statuses of servers that lack DeleteObjects, or want another checksum than the SDK sends. Their answers differ. */
const REFUSALS = [400, 405, 411, 501];

/** Deletes objects, many in one call if the server can do that. */
export class S3Deletes {
  private isOneByOne = false;

  constructor(private readonly bucket: S3Bucket) {}

  /** @param names at most 1,000, with the prefix of the bucket. A missing object is not an error. */
  async delete(names: string[]): Promise<void> {
    if (names.length < 2 || this.isOneByOne) return this.deleteOneByOne(names);
    try {
      await this.deleteTogether(names);
    } catch (error) {
      const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
      if (!REFUSALS.includes($metadata?.httpStatusCode ?? 0)) throw error;
      await this.deleteOneByOne(names);
      this.isOneByOne = true; // not reached if the single deletions fail too: then DeleteObjects was not the cause
    }
  }

  private async deleteTogether(names: string[]): Promise<void> {
    const { sdk, client, name: Bucket } = this.bucket;
    const Delete = { Quiet: true, Objects: names.map((Key) => ({ Key })) };
    const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete }));
    const [first] = Errors;
    if (first)
      throw new Error(`${Errors.length} objects were not deleted; ${first.Key}: ${first.Code} ${first.Message}`);
  }

  private async deleteOneByOne(names: string[]): Promise<void> {
    const { sdk, client, name: Bucket } = this.bucket;
    for (const Key of names) await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }));
  }
}

/**
 * How long a probe counts, because requests are paid for. A failure counts too: a probe of a silent server takes 90 s.
 */
const PROBE_TTL_MS = 30_000;

/** Objects in a bucket of S3 or an S3-compatible server. */
export class S3Storage implements Storage {
  private readonly deletes: S3Deletes;
  private origin: string | undefined;
  private probe: { outcome: Promise<unknown>; until: number } | undefined;

  private constructor(
    private readonly bucket: S3Bucket,
    private readonly sizes: PartSizes,
  ) {
    this.deletes = new S3Deletes(bucket);
  }

  /** @param url `s3://bucket?endpoint=…&region=…&prefix=…` */
  static async connect(url: string, { sizes, ...limits }: Partial<S3Limits> & { sizes?: PartSizes } = {}) {
    return new S3Storage(await connectBucket(url, limits), sizes ?? PART_SIZES);
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    await upload(this.bucket, body, { Key: this.nameOf(key), ContentType: contentType }, this.sizes);
  }

  /** Same as `put`, because S3 shows an object only when it is complete. */
  putAtomically(key: string, body: StorageBody, contentType: string): Promise<void> {
    return this.put(key, body, contentType);
  }

  signPut(key: string, terms: PutTerms): Promise<SignedPut> {
    return signPut(this.bucket, this.nameOf(key), terms);
  }

  signGet(key: string, terms: GetTerms): Promise<string> {
    return signGet(this.bucket, this.nameOf(key), terms);
  }

  async linkOrigin(): Promise<string> {
    return (this.origin ??= await linkOrigin(this.bucket));
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const { sdk, client, name } = this.bucket;
    const Range = range && `bytes=${range.start}-${range.end}`;
    const get = new sdk.GetObjectCommand({ Bucket: name, Key: this.nameOf(key), Range });
    const { Body } = await client.send(get).catch((error) => missing(key, error));
    return Body as Readable; // in Node the SDK returns the response stream itself
  }

  async size(key: string): Promise<number> {
    const { sdk, client, name } = this.bucket;
    const head = new sdk.HeadObjectCommand({ Bucket: name, Key: this.nameOf(key) });
    return (await client.send(head).catch((error) => missing(key, error))).ContentLength!;
  }

  async delete(key: string): Promise<void> {
    await this.deletes.delete([this.nameOf(key)]);
  }

  async deleteAll(prefix: string): Promise<void> {
    for await (const page of this.pages(`${this.bucket.prefix}${checkPrefix(prefix)}/`))
      await this.deletes.delete(page);
  }

  async *list(): AsyncGenerator<string> {
    const { prefix } = this.bucket;
    for await (const page of this.pages(prefix)) {
      for (const name of page) if (isKey(name.slice(prefix.length))) yield name.slice(prefix.length);
    }
  }

  async ready(): Promise<void> {
    if (this.probe === undefined || performance.now() > this.probe.until) {
      const { sdk, client, name } = this.bucket;
      const outcome = client.send(new sdk.HeadBucketCommand({ Bucket: name })); // checks address and credentials
      this.probe = { outcome, until: performance.now() + PROBE_TTL_MS };
    }
    await this.probe.outcome;
  }

  /** The names of objects, with the prefix of the bucket, at most 1,000 at a time. */
  private async *pages(prefix: string): AsyncGenerator<string[]> {
    const { sdk, client, name: Bucket } = this.bucket;
    let ContinuationToken: string | undefined;
    do {
      const list = { Bucket, Prefix: prefix || undefined, ContinuationToken };
      const page = await client.send(new sdk.ListObjectsV2Command(list));
      yield (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
      if (page.NextContinuationToken === ContinuationToken) return; // the end, or a server that repeats itself
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
  }

  private nameOf(key: string): string {
    return this.bucket.prefix + checkKey(key);
  }
}

/** A missing bucket is a configuration error, not a missing file. */
function missing(key: string, error: { name: string; $metadata?: { httpStatusCode?: number } }): never {
  const absent = error.$metadata?.httpStatusCode === 404 && error.name !== 'NoSuchBucket';
  throw absent ? new StoredFileMissing(key, error) : error;
}

/** Signs length and type, because a link that binds neither accepts any upload. */
async function signPut(
  { sdk, client, name: Bucket }: S3Bucket,
  Key: string,
  { contentType, bytes, lifetimeS }: PutTerms,
): Promise<SignedPut> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const target = { Bucket, Key, ContentType: contentType, ContentLength: bytes };
  const url = await getSignedUrl(client, new sdk.PutObjectCommand(target), {
    expiresIn: lifetimeS,
    signableHeaders: new Set(['host', 'content-type', 'content-length']), // by default the type is not signed
  });
  return { url, headers: { 'content-type': contentType, 'content-length': String(bytes) } };
}

/** Makes the server answer with the type and the name in our record, whatever the object was stored with. */
async function signGet(
  { sdk, client, name: Bucket }: S3Bucket,
  Key: string,
  { contentType, disposition, signedAt, lifetimeS }: GetTerms,
): Promise<string> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const target = { Bucket, Key, ResponseContentType: contentType, ResponseContentDisposition: disposition };
  return getSignedUrl(client, new sdk.GetObjectCommand(target), { expiresIn: lifetimeS, signingDate: signedAt });
}

/** Reads the origin from a link, because the host depends on endpoint, region and even the name of the bucket. */
async function linkOrigin(bucket: S3Bucket): Promise<string> {
  const terms = { contentType: '', disposition: '', signedAt: new Date(), lifetimeS: 1 };
  return new URL(await signGet(bucket, 'origin', terms)).origin;
}

import type { Readable } from 'node:stream';
import { connectBucket, type S3Bucket, type S3Limits } from './s3-bucket.ts';
import { S3Deletes } from './s3-delete.ts';
import { linkOrigin, signGet, signPut } from './s3-links.ts';
import { PART_SIZES, type PartSizes, upload } from './s3-upload.ts';
import { checkKey, checkPrefix, isKey, StoredFileMissing } from './storage.ts';
import type { ByteRange, GetTerms, PutTerms, SignedPut, Storage, StorageBody } from './storage.ts';

/** Requests are paid for. A failure counts for as long as a success: each probe of a silent server takes 90 s. */
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

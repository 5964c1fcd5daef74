import { Logger } from '@nestjs/common';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { checkKey, checkPrefix, isKey, StoredFileMissing } from './storage.ts';
import type { ByteRange, PutTerms, SignedPut, Storage, StorageBody } from './storage.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** For uploads from a file. The SDK itself retries uploads from memory, but it cannot rewind a stream. */
const UPLOAD_ATTEMPTS = 3;

/**
 * A connection on which no byte moves for so long is cut, and its request fails. Silence and not the whole time is limited,
 * because a large video on a slow line takes longer. The SDK makes three attempts, so a put fails after 90 s.
 */
const SILENCE_MS = 30_000;

/** Objects in a bucket of S3 or an S3-compatible server. */
export class S3Storage implements Storage {
  private constructor(
    private readonly sdk: Sdk,
    private readonly client: S3Client,
    private readonly bucket: string,
    /** Empty, or ends with a slash. */
    private readonly prefix: string,
  ) {}

  /**
   * Loads the SDK, which takes 100 ms that a service with files on disk saves. Credentials come from the AWS environment.
   * @param url `s3://bucket?endpoint=…&region=…&prefix=…`
   */
  static async connect(url: string, silenceMs = SILENCE_MS): Promise<S3Storage> {
    const { hostname: bucket, searchParams: options } = new URL(url);
    const endpoint = options.get('endpoint') ?? undefined;
    const prefix = options.get('prefix');
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      // S3-compatible servers rarely have regions. For AWS the SDK reads the region from its environment.
      region: options.get('region') ?? (endpoint && 'us-east-1'),
      endpoint,
      forcePathStyle: endpoint !== undefined, // bucket.host names need DNS entries that S3-compatible servers rarely have
      // Many S3-compatible servers do not support the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      logger: SDK_LOGGER,
      requestHandler: { connectionTimeout: 5_000, socketTimeout: silenceMs, logger: SDK_LOGGER },
    });
    return new S3Storage(sdk, client, bucket, prefix ? `${checkPrefix(prefix)}/` : '');
  }

  async put(key: string, body: StorageBody, contentType: string): Promise<void> {
    const target = { Bucket: this.bucket, Key: this.nameOf(key), ContentType: contentType };
    if (Buffer.isBuffer(body)) {
      await this.client.send(new this.sdk.PutObjectCommand({ ...target, Body: body, ContentLength: body.length }));
      return;
    }
    const { size: ContentLength } = await stat(body.path);
    for (let attempt = 1; ; attempt++) {
      const Body = createReadStream(body.path);
      try {
        await this.client.send(new this.sdk.PutObjectCommand({ ...target, Body, ContentLength }));
        return;
      } catch (error) {
        if (attempt === UPLOAD_ATTEMPTS) throw error;
      } finally {
        Body.destroy();
      }
    }
  }

  /** Signs length and type: a link that binds neither accepts any upload. */
  async signPut(key: string, { contentType, bytes, lifetimeS }: PutTerms): Promise<SignedPut> {
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    const target = { Bucket: this.bucket, Key: this.nameOf(key), ContentType: contentType, ContentLength: bytes };
    const url = await getSignedUrl(this.client, new this.sdk.PutObjectCommand(target), {
      expiresIn: lifetimeS,
      signableHeaders: new Set(['host', 'content-type', 'content-length']), // by default it leaves out the type
    });
    return { url, headers: { 'content-type': contentType, 'content-length': String(bytes) } };
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const get = new this.sdk.GetObjectCommand({ Bucket: this.bucket, Key: this.nameOf(key), Range });
    const { Body } = await this.client.send(get).catch((error) => missing(key, error));
    return Body as Readable; // in Node the SDK returns the response stream itself
  }

  async size(key: string): Promise<number> {
    const head = new this.sdk.HeadObjectCommand({ Bucket: this.bucket, Key: this.nameOf(key) });
    return (await this.client.send(head).catch((error) => missing(key, error))).ContentLength!;
  }

  async delete(key: string): Promise<void> {
    await this.client.send(new this.sdk.DeleteObjectCommand({ Bucket: this.bucket, Key: this.nameOf(key) }));
  }

  async deleteAll(prefix: string): Promise<void> {
    const Prefix = `${this.prefix}${checkPrefix(prefix)}/`;
    let ContinuationToken: string | undefined;
    do {
      const list = { Bucket: this.bucket, Prefix, ContinuationToken };
      const page = await this.client.send(new this.sdk.ListObjectsV2Command(list));
      // One by one, because DeleteObjects requires a checksum on which S3-compatible servers differ.
      for (const { Key } of page.Contents ?? []) {
        await this.client.send(new this.sdk.DeleteObjectCommand({ Bucket: this.bucket, Key }));
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
  }

  async *list(): AsyncGenerator<string> {
    let ContinuationToken: string | undefined;
    do {
      const list = { Bucket: this.bucket, Prefix: this.prefix || undefined, ContinuationToken };
      const page = await this.client.send(new this.sdk.ListObjectsV2Command(list));
      for (const { Key = '' } of page.Contents ?? []) {
        const key = Key.slice(this.prefix.length);
        if (isKey(key)) yield key;
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken);
  }

  async ready(): Promise<void> {
    await this.client.send(new this.sdk.HeadBucketCommand({ Bucket: this.bucket })); // checks address and credentials
  }

  private nameOf(key: string): string {
    return this.prefix + checkKey(key);
  }
}

const logger = new Logger('storage');
const ignore = (): void => undefined;

/** The SDK's warnings. Without this it prints them as plain text. It throws its errors, so their callers log them. */
const SDK_LOGGER = {
  trace: ignore,
  debug: ignore,
  info: ignore, // each request with its input
  warn: (msg: unknown) => logger.warn({ event: 'storage.sdk_warned', msg: String(msg) }),
  error: ignore,
};

/** A missing bucket is a configuration error, not a missing file. */
function missing(key: string, error: { name: string; $metadata?: { httpStatusCode?: number } }): never {
  const absent = error.$metadata?.httpStatusCode === 404 && error.name !== 'NoSuchBucket';
  throw absent ? new StoredFileMissing(key, error) : error;
}

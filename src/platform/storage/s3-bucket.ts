import { pipeline, Readable, Transform } from 'node:stream';
import { Logger } from '@nestjs/common';
import type { S3Client } from '@aws-sdk/client-s3';
import { checkPrefix } from './storage.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** A bucket, and the client that is connected to it. */
export interface S3Bucket {
  sdk: Sdk;
  client: S3Client;
  name: string;
  /** Prefix of every key: empty, or with a slash at its end. */
  prefix: string;
}

/** Limits of one attempt. The SDK makes three attempts, so a call to a silent server fails after some 90 s. */
export interface S3Limits {
  connectMs: number;
  /**
   * A connection is cut when no byte moves for this time, before the first byte or later. The total time is not
   * limited, because a large video on a slow line takes longer.
   */
  silenceMs: number;
}

export const S3_LIMITS: S3Limits = { connectMs: 5_000, silenceMs: 30_000 };

/**
 * Maximum connections of a process. Every download that a client still reads holds a connection. A call that finds no
 * free connection fails as if it could not connect. With the SDK's default of 50, slow readers made the puts of tasks
 * fail.
 */
const CONNECTIONS = 500;

/**
 * Makes a client for a bucket. Loading the SDK takes 100 ms, which a service with files on disk saves. Credentials come
 * from the AWS environment.
 * @param url `s3://bucket?endpoint=…&region=…&prefix=…`
 */
export async function connectBucket(url: string, limits: Partial<S3Limits>): Promise<S3Bucket> {
  const { connectMs, silenceMs } = { ...S3_LIMITS, ...limits };
  const { hostname: name, searchParams: options } = new URL(url);
  const endpoint = options.get('endpoint') ?? undefined;
  const prefix = options.get('prefix');
  const sdk = await import('@aws-sdk/client-s3');
  const agent = { keepAlive: true, maxSockets: CONNECTIONS };
  const client = new sdk.S3Client({
    // S3-compatible servers rarely have regions. For AWS the SDK reads the region from its environment.
    region: options.get('region') ?? (endpoint && 'us-east-1'),
    endpoint,
    forcePathStyle: endpoint !== undefined, // bucket.host names need DNS entries that S3-compatible servers rarely have
    // Many S3-compatible servers do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: SDK_LOGGER,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SDK_LOGGER,
    },
  });
  boundAnswers(client);
  return { sdk, client, name, prefix: prefix ? `${checkPrefix(prefix)}/` : '' };
}

/** The most bytes of an answer that is no file. A page of a listing has 1,000 keys of at most 1,024 bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Ends an answer that is too long. The SDK reads every answer into memory as a whole, except a file. */
function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const response = result.response as { statusCode: number; body: unknown };
        const isFile = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isFile && response.body instanceof Readable) response.body = bounded(response.body);
        return result;
      },
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' }, // as near to the connection as can be
  );
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= MAX_ANSWER_BYTES) done(null, chunk);
      else done(new Error(`The answer of the bucket has more than ${MAX_ANSWER_BYTES} bytes.`));
    },
  });
  return pipeline(body, check, () => undefined);
}

const logger = new Logger('storage');
const ignore = (): void => undefined;

/** Logs the SDK's warnings, which it would print as plain text. The SDK throws its errors, so callers log those. */
const SDK_LOGGER = {
  trace: ignore,
  debug: ignore,
  info: ignore, // the SDK would log each request with its input
  warn: (msg: unknown) => logger.warn({ event: 'storage.sdk_warned', msg: String(msg) }),
  error: ignore,
};

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
   * A connection is cut when no byte moves for this time, before the first byte or later. The whole time is not
   * limited, because a large video on a slow line takes longer.
   */
  silenceMs: number;
}

export const S3_LIMITS: S3Limits = { connectMs: 5_000, silenceMs: 30_000 };

/**
 * Maximum connections of a process. Every download that a client still reads holds one. A call that finds none free
 * fails as if it could not connect. With the 50 connections of the SDK, slow readers made the puts of tasks fail.
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
  return { sdk, client, name, prefix: prefix ? `${checkPrefix(prefix)}/` : '' };
}

const logger = new Logger('storage');
const ignore = (): void => undefined;

/** Logs the SDK's warnings, which it would print as plain text. The SDK throws its errors, so callers log those. */
const SDK_LOGGER = {
  trace: ignore,
  debug: ignore,
  info: ignore, // each request with its input
  warn: (msg: unknown) => logger.warn({ event: 'storage.sdk_warned', msg: String(msg) }),
  error: ignore,
};

import type { LifecycleRule } from '@aws-sdk/client-s3';
import { connectBucket, type S3Bucket } from './s3-bucket.ts';

/** The purge comes first; the rules remove what it could not. */
const GRACE_DAYS = 2;

/**
 * Writes the rules that remove what a lost purge leaves, and keeps the rules of others. Files of tasks only: the bytes
 * of an upload may be older than the newest upload that uses them.
 * @param fileRetentionDays may be a fraction
 * @returns what the rules do, for the operator
 */
export async function writeLifecycle(url: string, fileRetentionDays: number): Promise<string> {
  const bucket = await connectBucket(url, {});
  const { sdk, client, name: Bucket, prefix } = bucket;
  const days = Math.ceil(fileRetentionDays) + GRACE_DAYS;
  const own: LifecycleRule[] = [
    { ID: `darkroom files of tasks ${prefix}`, Filter: { Prefix: `${prefix}task_` }, Expiration: { Days: days } },
    {
      ID: `darkroom unfinished uploads ${prefix}`,
      Filter: { Prefix: prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: GRACE_DAYS },
    },
  ].map((rule) => ({ ...rule, Status: 'Enabled' }));
  try {
    const others = (await rulesOf(bucket)).filter(({ ID }) => !own.some((rule) => rule.ID === ID));
    const LifecycleConfiguration = { Rules: [...others, ...own] };
    await client.send(new sdk.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
  } catch (error) {
    const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
    if (name !== 'NotImplemented' && $metadata?.httpStatusCode !== 501) throw error;
    throw new Error('this S3 server has no lifecycle rules', { cause: error });
  }
  return `files of tasks go after ${days} days, parts of unfinished uploads after ${GRACE_DAYS}`;
}

async function rulesOf({ sdk, client, name: Bucket }: S3Bucket): Promise<LifecycleRule[]> {
  try {
    return (await client.send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules ?? [];
  } catch (error) {
    if ((error as Error).name === 'NoSuchLifecycleConfiguration') return [];
    throw error;
  }
}

import type { LifecycleRule } from '@aws-sdk/client-s3';
import { connectBucket, type S3Bucket } from './s3-bucket.ts';

/** After this time the parts of an unfinished upload are removed. A process needs less time for an upload. */
const GRACE_DAYS = 2;

/**
 * Writes the rule that removes the parts of unfinished uploads, and keeps the rules of others. Files have no rule:
 * their owner may keep them, which a bucket cannot know. Also removes the rule for the files of tasks, which earlier
 * versions wrote.
 * @returns what the rules do, for the operator
 */
export async function writeLifecycle(url: string): Promise<string> {
  const bucket = await connectBucket(url, {});
  const { sdk, client, name: Bucket, prefix } = bucket;
  const earlier = `darkroom files of tasks ${prefix}`;
  const own: LifecycleRule[] = [
    {
      ID: `darkroom unfinished uploads ${prefix}`,
      Filter: { Prefix: prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: GRACE_DAYS },
    },
  ].map((rule) => ({ ...rule, Status: 'Enabled' }));
  try {
    const others = (await rulesOf(bucket)).filter(({ ID }) => ID !== earlier && !own.some((rule) => rule.ID === ID));
    const LifecycleConfiguration = { Rules: [...others, ...own] };
    await client.send(new sdk.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
  } catch (error) {
    const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
    if (name !== 'NotImplemented' && $metadata?.httpStatusCode !== 501) throw error;
    throw new Error('this S3 server has no lifecycle rules', { cause: error });
  }
  return `parts of unfinished uploads go after ${GRACE_DAYS} days, files of tasks by the service alone`;
}

async function rulesOf({ sdk, client, name: Bucket }: S3Bucket): Promise<LifecycleRule[]> {
  try {
    return (await client.send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules ?? [];
  } catch (error) {
    if ((error as Error).name === 'NoSuchLifecycleConfiguration') return [];
    throw error;
  }
}

import type { S3Bucket } from './s3-bucket.ts';

/** Of servers that lack DeleteObjects, or want another checksum than the SDK sends. Their answers differ. */
const REFUSALS = [400, 405, 411, 501];

/** Deletes objects, many in one call where the server can. */
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
      this.isOneByOne = true; // not if these fail as well: then the call was at fault, and not its kind
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

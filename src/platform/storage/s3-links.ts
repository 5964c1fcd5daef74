import type { S3Bucket } from './s3-bucket.ts';
import type { GetTerms, PutTerms, SignedPut } from './storage.ts';

/** Signs length and type: a link that binds neither accepts any upload. */
export async function signPut(
  { sdk, client, name: Bucket }: S3Bucket,
  Key: string,
  { contentType, bytes, lifetimeS }: PutTerms,
): Promise<SignedPut> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const target = { Bucket, Key, ContentType: contentType, ContentLength: bytes };
  const url = await getSignedUrl(client, new sdk.PutObjectCommand(target), {
    expiresIn: lifetimeS,
    signableHeaders: new Set(['host', 'content-type', 'content-length']), // by default it leaves out the type
  });
  return { url, headers: { 'content-type': contentType, 'content-length': String(bytes) } };
}

/** Lets the server say the type and the name that the record knows, whatever the object was stored with. */
export async function signGet(
  { sdk, client, name: Bucket }: S3Bucket,
  Key: string,
  { contentType, disposition, signedAt, lifetimeS }: GetTerms,
): Promise<string> {
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
  const target = { Bucket, Key, ResponseContentType: contentType, ResponseContentDisposition: disposition };
  return getSignedUrl(client, new sdk.GetObjectCommand(target), { expiresIn: lifetimeS, signingDate: signedAt });
}

/** From a link, because the host depends on endpoint, region and even the name of the bucket. */
export async function linkOrigin(bucket: S3Bucket): Promise<string> {
  const terms = { contentType: '', disposition: '', signedAt: new Date(), lifetimeS: 1 };
  return new URL(await signGet(bucket, 'origin', terms)).origin;
}

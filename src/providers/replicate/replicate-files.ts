import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type InputImage, ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { networkCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { callReplicate } from './replicate-call.ts';
import { replyCause } from './replicate-errors.ts';
import { uploadedFile } from './replicate-wire.ts';

/** The largest image that is sent inside the request. Larger images are uploaded first. */
const MAX_DATA_URL_BYTES = 256 * 1024;

/** The time limit of an upload: enough for some 20 MB on a slow line. */
const UPLOAD_TIMEOUT_MS = 120_000;

/**
 * Makes the images available to Replicate: small ones as data URLs, others as uploaded files. Uploads are free, so a
 * failure here never costs anything.
 * @returns their URLs, in order
 * @throws ProviderError; the reason of the signal
 */
export async function uploadInputs(
  request: ProviderRequest,
  images: readonly InputImage[],
  signal: AbortSignal,
): Promise<string[]> {
  const urls: string[] = [];
  for (const image of images) {
    const isSmall = image.size <= MAX_DATA_URL_BYTES;
    urls.push(isSmall ? await dataUrl(image) : await upload(request, image, signal));
  }
  return urls;
}

const dataUrl = async ({ contentType, path }: InputImage): Promise<string> =>
  `data:${contentType};base64,${await readFile(path, 'base64')}`;

async function upload(request: ProviderRequest, image: InputImage, signal: AbortSignal): Promise<string> {
  const form = new FormData();
  const extension = image.contentType.slice('image/'.length);
  form.append('content', await openAsBlob(image.path, { type: image.contentType }), `image.${extension}`);
  const call = { method: 'POST', form, timeoutMs: UPLOAD_TIMEOUT_MS, signal } as const;
  const reply = await callReplicate(request, '/files', call).catch((error: unknown) => {
    if (!(error instanceof UpstreamFailure)) throw error;
    throw new ProviderError('provider_unavailable', { billing: 'none', cause: networkCause('replicate', error) });
  });
  const url = parseReply(uploadedFile, reply.json).urls?.get;
  if (reply.status >= 300 || url === undefined) throw refusal(request, reply);
  return url;
}

function refusal(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const cause = replyCause(request, reply);
  const refused = submitRefused(reply, cause);
  if (refused.billing === 'none') return refused;
  return new ProviderError('provider_unavailable', {
    billing: 'none',
    cause,
    retryAfterMs: retryAfterMs(reply.headers),
  });
}

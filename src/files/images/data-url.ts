import { ApiError } from '../../errors/api-error.ts';

const HEAD = /^data:image\/[\w.+-]{1,50}(?:;[\w.+-]{1,50}=[\w.+-]{0,50}){0,3};base64,/i;

export const isDataUrl = (text: string): boolean => text.startsWith('data:');

/**
 * Decodes the bytes of a `data:image/…;base64,…` URL. Its type is ignored: the bytes decide.
 * @throws ApiError invalid_url
 */
export function decodeDataUrl(url: string, param: string): Buffer {
  const head = HEAD.exec(url.slice(0, 500))?.[0];
  const text = head === undefined ? '' : url.slice(head.length);
  const bytes = Buffer.from(text, 'base64');
  // The decoder skips what is not base64, so only the length shows it.
  const isBase64 = bytes.length > 0 && bytes.length === Math.floor((withoutPadding(text).length * 3) / 4);
  if (isBase64) return bytes;
  throw new ApiError('invalid_url', {
    param,
    message: `${param} must be a data:image/…;base64 URL with valid base64.`,
  });
}

const withoutPadding = (text: string): string => text.replace(/={1,2}$/, '');

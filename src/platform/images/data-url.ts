/** The head of a data: URL, with the media type and its parameters. `base64` is the last of them. */
const HEAD = /^data:[^,]{0,400}?;[ \t]*base64[ \t]*,/i;
const WHITE_SPACE = /[\t\n\f\r ]+/g;

export const isDataUrl = (text: string): boolean => /^data:/i.test(text);

/**
 * Decodes a `data:…;base64,…` URL as browsers do: the head may have any case, and white space and percent-encoding are
 * allowed. The type is ignored, because the bytes show it.
 * @returns null if there is no valid base64
 */
export function bytesOfDataUrl(url: string): Buffer | null {
  const head = HEAD.exec(url.slice(0, 500))?.[0];
  if (head === undefined) return null;
  const base64 = withoutEncoding(url.slice(head.length))
    ?.replace(WHITE_SPACE, '')
    .replace(/={1,2}$/, '');
  if (!base64) return null;
  const bytes = Buffer.from(base64, 'base64');
  // The decoder skips characters that are not base64, so only the length shows them.
  return bytes.length > 0 && bytes.length === Math.floor((base64.length * 3) / 4) ? bytes : null;
}

/** @returns null for a bad escape sequence */
function withoutEncoding(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * The content security policy of the files below /app/. Scripts and styles come from this origin only, and no script
 * can turn text into markup. `blob:` is for the preview of a picture that the user is about to upload.
 * @param bucket the origin to which links to files redirect; null if links do not redirect, or the origin is unknown
 */
const policyWith = (bucket: string | null): string => {
  const more = bucket === null ? '' : ` ${bucket}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob:${more}`,
    `media-src 'self'${more}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
};

export const pageHeaders = (bucket: string | null): Readonly<Record<string, string>> => ({
  'content-security-policy': policyWith(bucket),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
});

/**
 * The name of an asset contains a hash of its bytes, so a browser may keep it for a year. A browser revalidates any
 * other file at each load.
 */
export function cacheControlOf(path: string): string {
  return path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}

import type { FastifyReply } from 'fastify';
import type { ApiError } from './api-error.ts';
import type { ErrorCode } from './catalog.ts';

/** Title and advice of the errors that a person may see after opening a link. Other errors are answered as JSON. */
const WORDS: Partial<Record<ErrorCode, [title: string, advice: string]>> = {
  invalid_signature: ['This link does not work', 'It has ended or was changed. Ask the sender for a new link.'],
  file_expired: ['This file is deleted', 'Files are kept for a while only. Ask the sender to make it again.'],
  share_ended: ['This share has ended', 'Ask the sender for a new link.'],
  rate_limit_exceeded: ['Too many requests', 'Try again in a minute.'],
  file_not_found: ['No file is here', 'Ask the sender for a new link.'],
  variant_not_available: ['This size does not exist', 'Ask the sender for a link to the file itself.'],
  upload_incomplete: ['This file has not arrived yet', 'Try again when its upload has ended.'],
  route_not_found: ['Nothing is here', 'Check the address.'],
};

/** The headers of the error page, which has no script and loads only its icon. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/**
 * The error as a page, for a GET that accepts HTML; null for other requests, and for errors that are not in `WORDS`.
 */
export function errorPage({ code }: ApiError, { request }: FastifyReply): string | null {
  const words = WORDS[code];
  if (!words || request.method !== 'GET' || !request.headers.accept?.includes('text/html')) return null;
  const [title, advice] = words;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Darkroom</title>
<link rel="icon" href="/app/lamp.svg">
<style>
  :root { color-scheme: light dark; }
  body { display: grid; place-content: center; justify-items: center; min-height: 100vh; margin: 0; padding: 24px;
    box-sizing: border-box; font: 16px/24px system-ui, sans-serif; text-align: center;
    background: light-dark(#faf7f2, #0c0a09); color: light-dark(#1d1815, #f3ede7); }
  h1 { margin: 24px 0 4px; font-size: 20px; line-height: 28px; }
  p { margin: 0; color: light-dark(#544a42, #c2b6ac); }
</style>
<svg width="40" height="40" viewBox="0 0 24 24" fill="none" aria-hidden="true"><circle cx="12" cy="12" r="9" stroke="#f2622e" stroke-width="2.5"/><circle cx="12" cy="12" r="4.5" fill="#f2622e" fill-opacity=".3"/></svg>
<h1>${title}</h1>
<p>${advice}</p>
</html>
`;
}

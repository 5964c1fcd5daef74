import { createHash } from 'node:crypto';
import { previewSizeOf } from '../previews/preview-size.ts';
import type { SharedFile } from './shared-files.ts';

export interface SharePage {
  /** The address of the page. */
  url: string;
  /** The last segment of `url`. The relative addresses of files begin with it. */
  token: string;
  /** null: the file is gone. */
  files: (SharedFile | null)[];
  showPrompt: boolean;
  expiresAt: Date;
}

/** Pixels of the longest side of a preview: enough for chats, and for a column of the page. */
export const STILL_WIDTH = 1024;
/**
 * The maximum number of characters of the prompt in the description of the page. Chat programs show the description
 * below a link.
 */
const MAX_DESCRIPTION = 300;

const STYLE = `
:root { color-scheme: light dark; --text-2: light-dark(#544a42, #c2b6ac); --line: light-dark(#ddd4c8, #3b342f); }
* { box-sizing: border-box; }
body { display: flex; flex-direction: column; gap: 16px; min-height: 100vh; margin: 0; padding: 16px clamp(16px, 2vw, 32px);
  font: 14px/20px system-ui, sans-serif; background: light-dark(#faf7f2, #0c0a09); color: light-dark(#1d1815, #f3ede7); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; }
h1 { flex: 1 1 240px; margin: 0; font-size: 16px; line-height: 24px; }
a { color: light-dark(#a6350c, #ff8a5b); }
a:focus-visible { outline: 2px solid light-dark(#8a2c08, #ffc08f); outline-offset: 2px; }
time, figcaption, .gone { color: var(--text-2); }
main { display: grid; flex: 1; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 24px 16px; align-content: start; }
figure { margin: 0; min-width: 0; }
img, video { display: block; width: 100%; height: auto; border-radius: 4px; background: light-dark(#e9e2d7, #1e1a18); }
.one main { grid-template-columns: minmax(0, 1fr); align-content: center; }
.one figure { width: fit-content; max-width: 100%; margin: 0 auto; }
.one img, .one video { width: auto; max-width: 100%; max-height: calc(100vh - 160px); margin: 0 auto; }
.gone { display: grid; place-content: center; min-height: 160px; border: 1px dashed var(--line); border-radius: 4px; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 12px; margin-top: 8px; }
figcaption a { margin-left: auto; }
.prompt { max-width: 80ch; max-height: 20lh; margin: 4px 0 0; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; color: light-dark(#1d1815, #f3ede7); }
`;

/** No script runs, nothing is loaded from other sites or sent to other sites, and the only style is `STYLE`. */
export const SHARE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "img-src 'self'",
    "media-src 'self'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The page as HTML. It has no script. */
export function sharePage(page: SharePage): string {
  const { files, url, expiresAt } = page;
  const title = titleOf(files);
  const prompts = page.showPrompt ? files.map((file) => promptOf(file)) : files.map(() => null);
  const first = prompts[0] ?? null;
  const common = files.length > 1 && first !== null && prompts.every((prompt) => prompt === first) ? first : null;
  const figures = files.map((file, index) => figureOf(page, { file, index }, common === null ? prompts[index]! : null));
  const description = prompts.find((prompt) => prompt !== null) ?? `Shared until ${dateOf(expiresAt)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="/app/lamp.svg">
<title>${escaped(title)} · Darkroom</title>
${[
  ['og:site_name', 'Darkroom'],
  ['og:type', 'website'],
  ['og:url', url],
  ['og:title', title],
  ['og:description', shortened(description)],
  ...cardOf(page),
]
  .map(([name, content]) => `<meta property="${name}" content="${escaped(content!)}">`)
  .join('\n')}
<meta name="twitter:card" content="summary_large_image">
<style>${STYLE}</style>
</head>
<body${files.length === 1 ? ' class="one"' : ''}>
<header>
<svg width="24" height="24" viewBox="0 0 24 24" fill="none" aria-hidden="true"><circle cx="12" cy="12" r="9" stroke="#f2622e" stroke-width="2.5"/><circle cx="12" cy="12" r="4.5" fill="#f2622e" fill-opacity=".3"/></svg>
<h1>${escaped(title)}</h1>
<time datetime="${expiresAt.toISOString()}">until ${dateOf(expiresAt)}</time>
</header>
${common === null ? '' : `${promptText(common)}\n`}<main>
${figures.join('\n')}
</main>
</body>
</html>
`;
}

function figureOf(
  { token, files }: SharePage,
  { file, index }: Placed<SharedFile | null>,
  prompt: string | null,
): string {
  if (!file) return '<figure><div class="gone">This file is deleted</div></figure>';
  const path = `${token}/${index}`;
  const size = `width="${file.width}" height="${file.height}"`;
  const shown =
    file.kind === 'video'
      ? `<video src="${path}" ${size} controls loop playsinline preload="metadata"${hasStill(file) ? ` poster="${path}/preview"` : ''}></video>`
      : `<a href="${path}"><img src="${path}" ${choiceOf(file, path, files.length)}${size} alt="${escaped(prompt ?? captionOf(file))}"></a>`;
  return `<figure>
${shown}
<figcaption><span>${escaped(file.output?.task.model ?? 'Upload')}</span><span>${sizeOf(file)}</span><a href="${path}?download">Save</a></figcaption>
${prompt === null ? '' : promptText(prompt)}</figure>`;
}

/**
 * The attributes that let the browser load the preview where a large picture is shown small; empty for any other file.
 */
function choiceOf(file: SharedFile, path: string, count: number): string {
  if (!hasStill(file) || Math.max(file.width, file.height) <= STILL_WIDTH) return '';
  const still = previewSizeOf(file, STILL_WIDTH);
  const sizes = count === 1 ? `min(100vw, ${file.width}px)` : '(max-width: 700px) 100vw, 50vw';
  return `srcset="${path}/preview ${still.width}w, ${path} ${file.width}w" sizes="${sizes}" `;
}

interface Placed<File> {
  file: File;
  index: number;
}

/**
 * The meta tags for previews in chats. They name one picture: the first file that is an image, or that is a video with
 * a still. They name one video: the first one.
 */
function cardOf({ url, files }: SharePage): [string, string][] {
  const placed = files.flatMap((file, index) => (file ? [{ file, index }] : []));
  const still = placed.find(({ file }) => file.kind === 'image' || hasStill(file));
  const film = placed.find(({ file }) => file.kind === 'video');
  return [
    ...(still
      ? [['og:image', `${url}/${still.index}${hasStill(still.file) ? '/preview' : ''}`] as [string, string]]
      : []),
    ...(film
      ? ([
          ['og:video', `${url}/${film.index}`],
          ['og:video:type', film.file.content.contentType],
          ['og:video:width', String(film.file.width)],
          ['og:video:height', String(film.file.height)],
        ] as [string, string][])
      : []),
  ];
}

const hasStill = ({ output }: SharedFile): boolean =>
  output !== null && (output.output.type === 'image' || output.output.thumbnail_key !== undefined);

function promptOf(file: SharedFile | null): string | null {
  const prompt = file?.output?.task.input['prompt'];
  return typeof prompt === 'string' && prompt !== '' ? prompt : null;
}

function titleOf(files: (SharedFile | null)[]): string {
  const there = files.filter((file) => file !== null);
  if (files.length === 1) return captionOf(there[0]!);
  const count = (kind: SharedFile['kind'], one: string): string[] => {
    const n = there.filter((file) => file.kind === kind).length;
    return n === 0 ? [] : [`${n} ${one}${n === 1 ? '' : 's'}`];
  };
  return [...count('image', 'picture'), ...count('video', 'film')].join(' and ');
}

function captionOf({ kind, output }: SharedFile): string {
  const what = kind === 'image' ? 'Picture' : 'Film';
  return output ? `${what} made with ${output.task.model}` : what;
}

function sizeOf({ width, height, output }: SharedFile): string {
  const duration = output?.output.duration;
  return `${width} × ${height}${duration === undefined ? '' : ` · ${duration} s`}`;
}

const promptText = (prompt: string): string => `<p class="prompt" dir="auto">${escaped(prompt)}</p>`;

const dateOf = (date: Date): string =>
  date.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }) + ' UTC';

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_DESCRIPTION ? text : `${characters.slice(0, MAX_DESCRIPTION - 1).join('')}…`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

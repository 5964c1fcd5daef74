import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** The folders of docs that are about using the service. The others are about changing it. */
const CHAPTERS = [
  { folder: 'api', title: 'Reference' },
  { folder: 'guides', title: 'Guides' },
];
/** The path at which the service serves the pages. */
const PAGES_PATH = '/llms';
/** The marks that a block has for `npm run docs:check` (see CONTRIBUTING.md). The served pages leave them out. */
const MARKS = /^( *```\w+) [\w-]+=.*$/gm;

interface Page {
  /** The path under docs: `api/tasks.md`. */
  path: string;
  text: string;
}

/**
 * Writes the files that the service serves beside its API: the script of the reference page, and the docs for language
 * models.
 */
export async function buildReference(root: string): Promise<void> {
  const target = join(root, 'dist/reference');
  await rm(target, { recursive: true, force: true });
  await Promise.all([writeProgram(target), writeDocs(join(root, 'docs'), target)]);
}

/**
 * Writes the script of the reference page. Only the package's plugin can return it, so this function asks a server with
 * the plugin.
 */
async function writeProgram(target: string): Promise<void> {
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { rawPayload, statusCode } = await server.inject('/docs/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error(`The reference page has no program: ${statusCode}.`);
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'scalar.js.gz'), await promisify(gzip)(rawPayload, { level: 9 }));
}

async function writeDocs(docs: string, target: string): Promise<void> {
  const chapters = await Promise.all(
    CHAPTERS.map(async ({ folder, title }) => ({ title, pages: await pagesIn(docs, folder) })),
  );
  const pages = chapters.flatMap((chapter) => chapter.pages);
  for (const { path, text } of pages) {
    const file = join(target, 'pages', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await copyFile(join(docs, 'api/examples.json'), join(target, 'examples.json')); // for /openapi.json
  const index = chapters.map(({ title, pages: of }) => [`## ${title}`, '', ...of.map(lineOf)].join('\n'));
  await writeFile(join(target, 'llms.txt'), `${[HEAD, ...index, MORE].join('\n\n')}\n`);
  const full = pages.map(({ path, text }) => `<!-- ${PAGES_PATH}/${path} -->\n\n${text.trim()}`);
  await writeFile(join(target, 'llms-full.txt'), `${[HEAD, ...full].join('\n\n')}\n`);
}

async function pagesIn(docs: string, folder: string): Promise<Page[]> {
  const names = (await readdir(join(docs, folder))).filter((name) => name.endsWith('.md')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(docs, folder, name), 'utf8');
      return { path: `${folder}/${name}`, text: text.replaceAll(MARKS, '$1') };
    }),
  );
}

const HEAD = `# Darkroom

> A self-hosted service that turns prompts into images and videos asynchronously: POST /v1/generations makes a task, GET /v1/tasks/{task_id}?wait=30 waits for it, a signed webhook reports its end.

Every call carries the header "Authorization: Bearer <API_KEY>". REST, GraphQL (/graphql), OpenAI's routes and MCP (/mcp) do the same. Every error has a code, the field it is about and what is allowed.`;

const MORE = `## Optional

- [All pages in one](/llms-full.txt): the reference and the guides.
- [OpenAPI](/openapi.json): every route with its schemas.
- [Reference page](/docs): for people.`;

function lineOf({ path, text }: Page): string {
  const [, title = path] = /^# (.+)$/m.exec(text) ?? [];
  return `- [${title}](${PAGES_PATH}/${path}): ${summaryOf(text)}`;
}

/** The first sentence of a page. */
function summaryOf(text: string): string {
  const paragraph = text.split('\n\n').find((part) => /^(?:[A-Z[]|`[^`])/.test(part)) ?? '';
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(/\s+/g, ' ');
  return (/^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}

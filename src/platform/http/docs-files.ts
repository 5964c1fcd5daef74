import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { ApiError } from '../../errors/api-error.ts';
import { ROOT_FOLDER } from '../config/root-folder.ts';

/** The folder that `npm run build` writes. */
const FOLDER = `${ROOT_FOLDER}dist/reference/`;

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Serves the files of the reference page and the docs for language models. One route serves many files, because each
 * route is a series of its own in the metrics.
 * @param written by name, the files of the page whose text is in this program
 */
export function serveDocsFiles(fastify: FastifyInstance, written: ReadonlyMap<string, string>): void {
  // Only these pages are served, so a name in a URL cannot lead to another file.
  const pages = new Set(globSync('**/*.md', { cwd: join(FOLDER, 'pages') }));

  fastify.get<{ Params: { file: string } }>('/docs/:file', async (request, reply) => {
    const text = written.get(request.params.file);
    if (text !== undefined) return describe(reply, '.js').send(text);
    if (request.params.file !== 'scalar.js') throw new ApiError('route_not_found');
    return sendProgram(request, reply);
  });
  for (const name of ['llms.txt', 'llms-full.txt']) {
    fastify.get(`/${name}`, async (_request, reply) => describe(reply, '.txt').send(await read(name)));
  }
  fastify.get<{ Params: { '*': string } }>('/llms/*', async ({ params }, reply) => {
    if (!pages.has(params['*'])) throw new ApiError('route_not_found');
    return describe(reply, '.md').send(await read(join('pages', params['*'])));
  });
}

/** Sends scalar.js: 1.4 MB compressed, 4.9 MB uncompressed. */
async function sendProgram({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const compressed = await read('scalar.js.gz');
  describe(reply, '.js').header('vary', 'Accept-Encoding');
  if (!/\bgzip\b/.test((headers['accept-encoding'] as string | undefined) ?? '')) {
    const plain = createGunzip(); // uncompresses piece by piece
    plain.end(compressed);
    return reply.send(plain);
  }
  return reply.header('content-encoding', 'gzip').send(compressed);
}

const describe = (reply: FastifyReply, extension: string): FastifyReply =>
  reply.type(TYPES[extension]!).header('cache-control', 'public, max-age=86400'); // files change only with a release

/** @throws ApiError route_not_found when only a part of the program was built */
async function read(name: string): Promise<Buffer> {
  return readFile(join(FOLDER, name)).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new ApiError('route_not_found', { cause }) : cause;
  });
}

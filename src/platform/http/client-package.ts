import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { ApiError } from '../../errors/api-error.ts';
import { ROOT_FOLDER } from '../config/root-folder.ts';

/** `npm run build` puts it beside the built program. */
const PACKAGE = `${ROOT_FOLDER}dist/client.tgz`;
const PATH = '/client.tgz';

/**
 * Serves the TypeScript client to anybody: `npm install https://…/client.tgz` always fits the service. Call it before
 * the application listens.
 */
export function serveClientPackage(app: INestApplication, file: string = PACKAGE): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  fastify.get(PATH, async (_request, reply) => {
    const bytes = await readFile(file).catch(() => {
      throw new ApiError('route_not_found', { message: 'This build has no client; run `npm run client`.' });
    });
    return reply.type('application/gzip').header('cache-control', 'no-cache').send(bytes);
  });
}

import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { ApiError } from '../../errors/api-error.ts';
import { ROOT_FOLDER } from '../config/root-folder.ts';
import { VERSION } from '../config/version.ts';

/** `npm run build` puts the packages beside the built program. */
const DIST = `${ROOT_FOLDER}dist`;
/** pip takes the name and the version of a wheel from its address. */
const WHEEL = `/python/darkroom_client-${VERSION}-py3-none-any.whl`;
const PACKAGES: Record<string, string> = { '/client.tgz': 'application/gzip', [WHEEL]: 'application/zip' };

/**
 * Serves the clients to anybody, so that the client of `npm install https://…/client.tgz` or `pip install
 * https://…/python/….whl` always fits the service. Call this before the application listens.
 */
export function serveClientPackages(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  for (const [path, type] of Object.entries(PACKAGES)) {
    fastify.get(path, async (_request, reply) => {
      const bytes = await readFile(`${DIST}${path}`).catch(() => {
        throw new ApiError('route_not_found', { message: 'This build has no client; run `npm run build`.' });
      });
      return reply.type(type).header('cache-control', 'no-cache').send(bytes);
    });
  }
}

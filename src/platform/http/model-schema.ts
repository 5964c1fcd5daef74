import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { ROOT_FOLDER } from '../config/root-folder.ts';

const SCHEMA = `${ROOT_FOLDER}models/schema.json`;
const PATH = '/schemas/model.json';

/** Serves the schema of model declarations to anybody, for editors. Call this before the application listens. */
export function serveModelSchema(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  fastify.get(PATH, async (_request, reply) =>
    reply
      .type('application/schema+json')
      .header('cache-control', 'no-cache')
      .send(await readFile(SCHEMA)),
  );
}

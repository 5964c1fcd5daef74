import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

const NO_VARIATIONS = 'There are no image variations here: edit the picture with POST /v1/images/edits.';
const NO_CHAT = 'There are no chat models here: create pictures with POST /v1/images/generations.';
const NO_VIDEO_EDITS =
  'Videos are neither edited nor extended here, and have no characters: make a new one with POST /v1/videos/{id}/remix.';

const ABSENT = {
  '/v1/images/variations': NO_VARIATIONS,
  '/v1/chat/completions': NO_CHAT,
  '/v1/chat/completions/*': NO_CHAT,
  '/v1/responses': NO_CHAT,
  '/v1/responses/*': NO_CHAT,
  '/v1/videos/characters': NO_VIDEO_EDITS,
  '/v1/videos/characters/:id': NO_VIDEO_EDITS,
  '/v1/videos/edits': NO_VIDEO_EDITS,
  '/v1/videos/extensions': NO_VIDEO_EDITS,
};

/**
 * Refuses routes of OpenAI's API that clients may expect and this service does not have, before a body is read. The
 * refusal says what to use instead. Call this before the application listens.
 */
export function refuseAbsentRoutes(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  for (const [url, message] of Object.entries(ABSENT)) {
    const refuse = async (): Promise<never> => {
      throw new ApiError('route_not_found', { message });
    };
    fastify.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, onRequest: refuse, handler: refuse });
  }
}

import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routeOf } from '../route-of.ts';

/** What a route accepts beside JSON of the usual size. */
interface BodyConfig {
  /** Also multipart/form-data: the body is then a `MultipartBody`, which the handler reads. */
  multipart?: boolean;
  /** Any content type, with or without a key: the body is a `FileBody`. The handler checks a signature before it reads. */
  signedFile?: boolean;
  /** JSON without an API key, for a route that hands out what replaces one. */
  withoutKey?: boolean;
  /** Size of a JSON body in bytes, in place of the usual limit. A larger one may arrive in a time in proportion. */
  jsonBytes?: number;
}

interface ConfigWithBody {
  body?: BodyConfig;
}

/** Routes without this decorator accept only JSON of at most 1 MiB. */
export const AcceptsBody = (body: BodyConfig) => RouteConfig({ body } satisfies ConfigWithBody);

const USUAL: BodyConfig = {};

export function bodyConfigOf(request: FastifyRequest): BodyConfig {
  return (routeOf(request).config as ConfigWithBody | undefined)?.body ?? USUAL;
}

/** Whether the handler reads the body itself, to disk. */
export function isStreamed(request: FastifyRequest, config = bodyConfigOf(request)): boolean {
  const { multipart, signedFile } = config;
  return signedFile === true || (multipart === true && isMultipart(request));
}

export function isMultipart({ headers }: FastifyRequest): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** Call before routes are added. */
export function raiseJsonLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { jsonBytes } = (route.config as ConfigWithBody | undefined)?.body ?? {};
    if (jsonBytes !== undefined) route.bodyLimit = jsonBytes;
  });
}

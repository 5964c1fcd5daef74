import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyOf, hasBody, routeOf } from '../request.ts';
import { ApiError } from '../../../errors/api-error.ts';
import type { HttpLimits } from '../limits.ts';
import { discardRest, watchArrival } from './arrival.ts';
import { FileBody } from './file-body.ts';
import { MultipartBody } from './multipart-body.ts';
import { UploadRoom } from './upload-room.ts';

/** What a route accepts besides JSON of the usual size. */
interface BodyConfig {
  /** Also multipart/form-data: the body is then a `MultipartBody`, which the handler reads. */
  multipart?: boolean;
  /**
   * Any content type, with or without a key: the body is a `FileBody`. The handler checks a signature before it reads.
   */
  signedFile?: boolean;
  /** Also JSON from a client without an API key: the route gives out a credential in place of the key. */
  withoutKey?: boolean;
  /**
   * Limit of a JSON body in bytes, in place of the usual limit. A larger limit allows more time in proportion, up to
   * the time of a form.
   */
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

function isMultipart({ headers }: FastifyRequest): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/** Gives routes with `jsonBytes` this limit. Call this before routes are added. */
function raiseJsonLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { jsonBytes } = (route.config as ConfigWithBody | undefined)?.body ?? {};
    if (jsonBytes !== undefined) route.bodyLimit = jsonBytes;
  });
}

const FILE_TYPE = 'application/octet-stream';

/**
 * Gives the routes with `@AcceptsBody` their bodies. Forms and files are not read here, because the guards run first.
 */
export function acceptStreamedBodies(fastify: FastifyInstance, limits: HttpLimits): void {
  const { uploads } = limits;
  const room = new UploadRoom(uploads);
  const fileTypes = new WeakMap<object, string>();

  raiseJsonLimits(fastify);
  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    const { raw } = request;
    const config = bodyConfigOf(request);
    if (config.signedFile) {
      // Fastify has one parser per content type for all routes. A file may have any type, such as JSON, so all files
      // get `FILE_TYPE`.
      fileTypes.set(raw, raw.headers['content-type'] ?? FILE_TYPE);
      raw.headers['content-type'] = FILE_TYPE;
    } else if (
      config.jsonBytes !== undefined &&
      !isStreamed(request, config) &&
      isLargeJson(request, config.jsonBytes, limits)
    ) {
      watchArrival(raw, { ...uploads, totalMs: timeFor(config.jsonBytes, limits) }, (slow) => {
        discardRest(raw, uploads.lingerMs);
        // The body parser responds with this error. A request that was refused earlier has no parser, and an `error`
        // event without a listener would end the process.
        const body = bodyOf(raw);
        if (body.listenerCount('error') > 0) body.emit('error', slow);
      });
    }
    done();
  });
  fastify.addContentTypeParser('multipart/form-data', (request, _payload, done) => {
    if (isMultipart(request) && bodyConfigOf(request).multipart) {
      done(null, new MultipartBody(request.raw, uploads, room));
    } else if (hasBody(request.headers)) done(new ApiError('unsupported_media_type'));
    else done(null, undefined);
  });
  fastify.addContentTypeParser(FILE_TYPE, (request, _payload, done) => {
    const type = fileTypes.get(request.raw);
    if (type !== undefined) done(null, new FileBody(request.raw, type, uploads, room));
    else if (hasBody(request.headers)) done(new ApiError('unsupported_media_type'));
    else done(null, undefined);
  });
}

const isLargeJson = ({ headers }: FastifyRequest, jsonBytes: number, { bodyBytes }: HttpLimits): boolean =>
  hasBody(headers) && jsonBytes > bodyBytes;

/** The time is in proportion to the size, up to the time of a form. */
function timeFor(jsonBytes: number, { bodyBytes, requestTimeoutMs, uploads }: HttpLimits): number {
  return Math.min(uploads.totalMs, requestTimeoutMs * (jsonBytes / bodyBytes));
}

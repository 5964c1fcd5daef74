import { Body, Controller, Get, HttpCode, Module, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiError } from '../../src/errors/api-error.ts';
import { createHttpApp, type EdgeAdapter } from '../../src/platform/http/http-app.ts';
import type { HttpLimits } from '../../src/platform/http/limits.ts';
import { ApiField } from '../../src/platform/schema/api-field.ts';
import { defineChoice } from '../../src/platform/schema/choice.ts';

const Colour = defineChoice('Colour', ['red', 'blue']);

class NewThing {
  @ApiField.string('its name', { max: 5 }) name: string;
  @ApiField.integer('its size', { optional: true, min: 1, max: 9 }) size?: number;
  @ApiField.list(Colour, 'its colours', { optional: true }) colours?: string[];
}
class ThingsQuery {
  @ApiField.integer('things per page', { optional: true, min: 1, max: 100, fromQuery: true }) limit?: number;
}

const slow = { begun: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>() };

@Controller('things')
class ThingsController {
  @Get() list(@Query() query: ThingsQuery) {
    return { data: [], limit: query.limit ?? null };
  }
  @Get('slow') async slow() {
    slow.begun.resolve();
    await slow.gate.promise;
    return { slow: true };
  }
  @Get('stream') stream(@Res() reply: FastifyReply) {
    reply.hijack();
    reply.raw.write('begun');
  }
  @Get('broken') broken() {
    throw new Error('password of the database: hunter2');
  }
  @Get('away') away() {
    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  }
  @Get('secret') secret() {
    throw new ApiError('invalid_api_key');
  }
  @Get(':id') find(@Param('id') id: string) {
    return { id };
  }
  @Post() create(@Body() thing: NewThing) {
    return thing;
  }
  @Post(':id/cancel') @HttpCode(200) cancel(@Param('id') id: string) {
    return { id, cancelled: true };
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

const edgeOf = (app: NestFastifyApplication) => (app.getHttpAdapter() as EdgeAdapter).edge;

let app: NestFastifyApplication;
let port: number;

beforeAll(async () => {
  ({ app, port } = await start());
});
afterAll(() => app.close());

async function start(corsOrigins: string[] = [], limits: Partial<HttpLimits> = {}) {
  const app = await createHttpApp(ThingsModule, { corsOrigins, logLevel: 'silent' }, { limits });
  await app.listen(0, '127.0.0.1');
  return { app, port: (app.getHttpServer().address() as { port: number }).port };
}

/** Writes raw bytes and reads until the server closes the connection. */
function raw(bytes: string, at = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(at, '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
  });
}

function parse(answer: string) {
  const [head, ...body] = answer.split('\r\n\r\n');
  const [line, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((one) => [one.split(': ')[0].toLowerCase(), one.slice(one.indexOf(': ') + 2)]),
  );
  return { status: Number(line.split(' ')[1]), headers, body: JSON.parse(body.join('\r\n\r\n')) };
}

function expectEnvelope(
  answer: { status: number; headers: Record<string, string>; body: any },
  status: number,
  code: string,
) {
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
  expect(Object.keys(answer.body)).toEqual(['error']);
  expect(Object.keys(answer.body.error).sort()).toEqual(['code', 'message', 'param', 'request_id', 'type']);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(answer.headers['x-request-id']).toBe(answer.body.error.request_id);
  expect(answer.headers).not.toHaveProperty('server');
  expect(answer.headers).not.toHaveProperty('x-powered-by');
}

async function call(method: string, path: string, options: { body?: any; headers?: Record<string, string> } = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...options });
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: text === '' ? null : JSON.parse(text) };
}
const json = { 'content-type': 'application/json' };

it('is not written into a response that is being sent, when a later request on its connection is garbage', async () => {
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(get('/things/stream')));
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString();
    if (answer.endsWith('begun\r\n')) socket.write(`${get('/things')}GARBAGE\r\n\r\n`);
  });
  await once(socket, 'close');
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

describe('every reply', () => {
  it('echoes a harmless x-request-id and replaces any other', async () => {
    expect((await call('GET', '/things', { headers: { 'x-request-id': 'my-id_1.2' } })).headers['x-request-id']).toBe(
      'my-id_1.2',
    );
    for (const bad of ['a b', 'x'.repeat(129), '<script>']) {
      expect((await call('GET', '/things', { headers: { 'x-request-id': bad } })).headers['x-request-id']).toMatch(
        /^req_[\w-]+$/,
      );
    }
  });

  it('has nosniff, no server banner, no CORS header, and is not kept by caches', async () => {
    const { headers } = await call('GET', '/things', { headers: { origin: 'https://evil.example' } });
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
    expect(Object.keys(headers).filter((name) => /^(server|x-powered-by|access-control-.*)$/.test(name))).toEqual([]);
  });
});

describe('addresses and methods', () => {
  it('answers route_not_found for an unknown path', async () => {
    for (const path of ['/nothing', '/things/', '/THINGS', '/things/1/cancel/more', '/things//cancel']) {
      expectEnvelope(await call('GET', path), 404, 'route_not_found');
    }
    const page = await fetch(`http://127.0.0.1:${port}/nothing`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([404, expect.stringContaining('Nothing is here')]);
  });
  it('answers method_not_allowed with the allowed methods', async () => {
    const put = await call('PUT', '/things', { headers: json, body: 'garbage' });
    expectEnvelope(put, 405, 'method_not_allowed');
    expect(put.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
    const get = await call('GET', '/things/7/cancel?x=1');
    expectEnvelope(get, 405, 'method_not_allowed');
    expect(get.headers.allow).toBe('POST, OPTIONS');
    expectEnvelope(
      parse(await raw('PROPFIND /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')),
      405,
      'method_not_allowed',
    );
    expectEnvelope(
      parse(await raw('TRACE /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')),
      405,
      'method_not_allowed',
    );
  });
  it('answers OPTIONS and HEAD', async () => {
    const options = await call('OPTIONS', '/things/1');
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expectEnvelope(await call('OPTIONS', '/nothing'), 404, 'route_not_found');
    expect((await call('HEAD', '/things')).status).toBe(200);
    expect((await call('HEAD', '/nothing')).status).toBe(404);
    expect((await call('HEAD', '/things/1/cancel')).status).toBe(405);
  });
  it('refuses a badly encoded path, and accepts a very long id', async () => {
    expectEnvelope(await call('GET', '/things/%zz'), 400, 'bad_request');
    expect((await call('GET', `/things/${'a'.repeat(5_000)}`)).body.id).toHaveLength(5_000);
  });
});

describe('bodies', () => {
  it('must be JSON', async () => {
    const body = '{"name":"x"}';
    expect((await call('POST', '/things', { headers: json, body })).status).toBe(201);
    for (const type of [
      'Application/JSON; charset=UTF-8',
      'application/json; charset="utf-8"',
      'application/json;charset="UTF8"',
    ]) {
      expect((await call('POST', '/things', { headers: { 'content-type': type }, body })).status).toBe(201);
    }
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'json',
      '',
      'application/json; charset=utf-16',
      'application/json; charset="utf-16"',
      'application/json; charset="latin1"',
      'application/json; charset="utf-8',
    ]) {
      expectEnvelope(
        await call('POST', '/things', { headers: { 'content-type': type }, body }),
        415,
        'unsupported_media_type',
      );
    }
    const untyped = `POST /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expectEnvelope(parse(await raw(untyped)), 415, 'unsupported_media_type');
    expectEnvelope(
      await call('POST', '/things', { headers: { ...json, 'content-encoding': 'gzip' }, body }),
      415,
      'unsupported_media_type',
    );
  });
  it('are refused when empty or broken', async () => {
    for (const body of ['', '{', '{"a":1,}', 'nul', '\ufeff{}', Buffer.from([0x22, 0xff, 0x22])]) {
      expectEnvelope(await call('POST', '/things', { headers: json, body }), 400, 'invalid_json');
    }
    expectEnvelope(await call('POST', '/things'), 400, 'invalid_json');
    for (const body of ['[]', 'null', '"x"', '1', 'true']) {
      expectEnvelope(await call('POST', '/things', { headers: json, body }), 400, 'invalid_body');
    }
  });
  it('may be missing where the route reads none', async () => {
    for (const options of [
      {},
      { headers: json },
      { headers: json, body: '{}' },
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' },
    ]) {
      expect((await call('POST', '/things/1/cancel', options)).body).toEqual({ id: '1', cancelled: true });
    }
  });
  it('are refused over 1 MiB, with or without Content-Length, and the client receives the refusal', async () => {
    const body = `{"name":"${'x'.repeat(3 * 1024 * 1024)}"}`;
    expectEnvelope(await call('POST', '/things', { headers: json, body }), 413, 'payload_too_large');
    const stream = new Blob([body]).stream();
    expectEnvelope(
      await call('POST', '/things', { headers: json, body: stream, duplex: 'half' } as object),
      413,
      'payload_too_large',
    );
  });
});

describe('inputs', () => {
  const post = (body: unknown) =>
    call('POST', '/things', { headers: json, body: typeof body === 'string' ? body : JSON.stringify(body) });
  it.each([
    [{}, 'missing_required_parameter', 'name'],
    [{ name: 5 }, 'invalid_type', 'name'],
    [{ name: null }, 'invalid_type', 'name'],
    [{ name: 'abcdef' }, 'string_too_long', 'name'],
    [{ name: 'a', size: '3' }, 'invalid_type', 'size'],
    [{ name: 'a', size: 1.5 }, 'invalid_type', 'size'],
    [{ name: 'a', size: null }, 'invalid_type', 'size'],
    [{ name: 'a', size: 10 }, 'value_out_of_range', 'size'],
    [{ name: 'a', colours: ['red', 'green'] }, 'invalid_value', 'colours[1]'],
    [{ name: 'a', flavour: 1 }, 'unknown_parameter', 'flavour'],
    ['{"name":"a","__proto__":{"size":1}}', 'unknown_parameter', '__proto__'],
    ['{"name":"a","constructor":1}', 'unknown_parameter', 'constructor'],
    ['{"name":"a","name":"b"}', 'duplicate_key', 'name'],
    ['{"name":"\\ud800"}', 'invalid_unicode', 'name'],
  ])('%j is %s of %s', async (body, code, param) => {
    const answer = await post(body);
    expectEnvelope(answer, 400, code);
    expect(answer.body.error.param).toBe(param);
  });
  it('accepts only whole numbers in a query', async () => {
    expect((await call('GET', '/things?limit=20')).body.limit).toBe(20);
    for (const bad of ['abc', '1.5', '', ' 1', '1e2', '0x10', '1&limit=2']) {
      expectEnvelope(await call('GET', `/things?limit=${bad}`), 400, 'invalid_type');
    }
    expectEnvelope(await call('GET', '/things?limit=101'), 400, 'value_out_of_range');
    expectEnvelope(await call('GET', '/things?limt=1'), 400, 'unknown_parameter');
  });
});

describe('failures', () => {
  it('hides the details of an unknown error', async () => {
    const answer = await call('GET', '/things/broken');
    expectEnvelope(answer, 500, 'internal_error');
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|Error:|at /);
  });
  it('answers 503 when the database is away', async () => {
    const answer = await call('GET', '/things/away');
    expectEnvelope(answer, 503, 'service_unavailable');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });
  it('sends WWW-Authenticate: Bearer with a 401', async () => {
    const answer = await call('GET', '/things/secret');
    expectEnvelope(answer, 401, 'invalid_api_key');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });
});

describe('on the socket', () => {
  it.each([
    ['junk', 'hello\r\n\r\n', 400, 'bad_request'],
    ['no Host', 'GET /things HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad_request'],
    [
      'two lengths',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'bad_request',
    ],
    [
      'a length and chunks',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nab',
      400,
      'bad_request',
    ],
    [
      'huge headers',
      `GET /things HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'an unknown expectation',
      'POST /things HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      417,
      'bad_request',
    ],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405, 'method_not_allowed'],
    [
      'a WebSocket at a path without one',
      'GET /things HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      404,
      'route_not_found',
    ],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404, 'route_not_found'],
    ['an overlong encoding', 'GET /%c0%ae HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'bad_request'],
  ])('answers %s in the same shape', async (_name, bytes, status, code) => {
    expectEnvelope(parse(await raw(bytes)), status, code);
  });
  it.each([
    ['half a head', 'GET /things HTTP/1.1\r\nHost: x\r\n'],
    [
      'half a body',
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"',
    ],
  ])('answers %s with request_timeout', async (_name, bytes) => {
    const hasty = await start([], { headersTimeoutMs: 1_500, requestTimeoutMs: 3_000, timeoutCheckMs: 50 });
    expectEnvelope(parse(await raw(bytes, hasty.port)), 408, 'request_timeout');
    await hasty.app.close();
  });
  it('answers in HTTP/1.1 when a client offers h2c', async () => {
    const answer = parse(
      await raw(
        'GET /things HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
      ),
    );
    expect([answer.status, answer.body]).toEqual([200, { data: [], limit: null }]);
  });
  it('passes the upgrade of a claimed path to its handler', async () => {
    edgeOf(app).upgrades.claim('/socket', (_request, socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nhi'),
    );
    expect(
      await raw('GET /socket?a=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 101 .*hi$/s);
  });
});

describe('around the edges', () => {
  it('allows the configured origins', async () => {
    const own = await start(['https://studio.example']);
    const ask = (origin: string) =>
      fetch(`http://127.0.0.1:${own.port}/things`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const [good, bad] = [await ask('https://studio.example'), await ask('https://evil.example')];
    await own.app.close();
    expect([good.status, good.headers.get('access-control-allow-origin')]).toEqual([204, 'https://studio.example']);
    expect(bad.headers.get('access-control-allow-origin')).toBeNull();
    expect(good.headers.get('x-request-id')).toMatch(/^req_/);
  });
  it('finishes requests in flight and refuses new ones while draining', async () => {
    const own = await start();
    const url = `http://127.0.0.1:${own.port}/things`;
    const underWay = fetch(`${url}/slow`);
    await slow.begun.promise;
    edgeOf(own.app).startDraining();
    const refused = await fetch(url);
    expect([refused.status, refused.headers.get('connection'), refused.headers.get('retry-after')]).toEqual([
      503,
      'close',
      '2',
    ]);
    expect(((await refused.json()) as any).error.code).toBe('service_unavailable');
    const closed = own.app.close();
    slow.gate.resolve();
    expect(await (await underWay).json()).toEqual({ slow: true });
    await closed;
  });
});

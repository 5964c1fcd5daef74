import { jest } from '@jest/globals';
import { fastify as createFastify, type FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { stopClock } from '../../../../test/support/clock.ts';
import { eventually } from '../../../../test/support/wait.ts';
import { sendError, toApiError } from '../../../errors/error.filter.ts';
import { acceptJsonBodiesOnly } from '../strict-json.ts';
import { HTTP_LIMITS, type UploadLimits } from '../limits.ts';
import { createEdge } from '../edge.ts';
import { type Form, MultipartBody } from './multipart-body.ts';
import { acceptStreamedBodies } from './accepts-body.ts';

const KB = 1_000;
const UPLOADS: UploadLimits = {
  ...HTTP_LIMITS.uploads,
  formBytes: 3_000 * KB,
  fileBytes: 1_000 * KB,
  files: 3,
  parts: 5,
  textBytes: 100,
  lingerMs: 300,
  atOnceOfOwner: 4,
  scratchBytes: 2_500 * KB,
  scratchBytesOfOwner: 2_000 * KB,
};
const scratchFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`darkroom-upload-${process.pid}-`));

async function startServer(uploads: UploadLimits): Promise<{ fastify: FastifyInstance; url: string; forms: Form[] }> {
  const fastify = createFastify();
  const forms: Form[] = [];
  acceptJsonBodiesOnly(fastify);
  acceptStreamedBodies(fastify, { ...HTTP_LIMITS, uploads });
  fastify.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
  fastify.post('/form', { config: { body: { multipart: true } } }, async ({ body, headers }) => {
    if (!(body instanceof MultipartBody)) return { body };
    const { owner = 'key_1', only } = headers as { owner?: string; only?: string };
    const form = await body.read({ owner, ...(only && { only }), tooLarge: (fields) => (fields.length > 0 ? 'invalid_value' : 'invalid_type') }); // prettier-ignore
    forms.push(form);
    return { fields: form.fields, files: form.files.map(({ path: _path, ...file }) => file) };
  });
  fastify.post('/json', async () => 'done');
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  return { fastify, url: `http://127.0.0.1:${(fastify.server.address() as AddressInfo).port}`, forms };
}

describe('a form', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let sockets: Socket[] = [];
  beforeAll(async () => (server = await startServer(UPLOADS)));
  afterAll(() => server.fastify.close());
  afterEach(async () => {
    sockets.forEach((socket) => socket.destroy());
    sockets = [];
    await Promise.all(server.forms.splice(0).map((form) => form.dispose()));
    await eventually('no scratch file to be left', async () => scratchFolders().length === 0);
  });

  const send = async (form: FormData | string, headers = {}) => {
    const reply = await fetch(`${server.url}/form`, { method: 'POST', body: form, headers });
    return { status: reply.status, body: (await reply.json()) as any };
  };
  const expectFault = async (form: FormData | string, code: string, headers = {}) => {
    const { status, body } = await send(form, headers);
    expect({ status, code: body.error?.code }).toEqual({ status: code === 'payload_too_large' ? 413 : 400, code });
  };
  const blob = (bytes: number, fill = 'x') => new Blob([fill.repeat(bytes)], { type: 'image/png' });

  it('gives fields and files in order, with the hash and size of what is on disk', async () => {
    const form = new FormData();
    form.append('image[]', blob(300 * KB, 'a'), 'one.png');
    form.append('n', '2');
    form.append('n', 'ü');
    form.append('image[]', blob(3, 'b'), '../../two.png');
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const { status, body } = await send(form);
    expect(status).toBe(200);
    expect(body).toEqual({
      fields: [['n', '2'], ['n', 'ü']], // prettier-ignore
      files: [
        { field: 'image[]', filename: 'one.png', contentType: 'image/png', bytes: 300 * KB, sha256: sha256('a'.repeat(300 * KB)) }, // prettier-ignore
        { field: 'image[]', filename: 'two.png', contentType: 'image/png', bytes: 3, sha256: sha256('bbb') },
      ],
    });
    const [{ files }] = server.forms as [Form];
    expect(files.map(({ path }) => readFileSync(path, 'utf8').length)).toEqual([300 * KB, 3]);
    await server.forms[0]!.dispose();
    expect(files.map(({ path }) => existsSync(path))).toEqual([false, false]);
  });

  it('is refused when a count or size is over its limit, and leaves nothing', async () => {
    const files = new FormData();
    for (let at = 0; at < 4; at++) files.append('file', blob(200 * KB), 'a.png');
    await expectFault(files, 'invalid_multipart');
    const parts = new FormData();
    for (let at = 0; at < 6; at++) parts.append('field', 'text');
    await expectFault(parts, 'invalid_multipart');
    const text = new FormData();
    text.append('prompt', 'x'.repeat(101));
    await expectFault(text, 'invalid_multipart');
    const file = new FormData();
    file.append('file', blob(1_001 * KB), 'a.png');
    await expectFault(file, 'invalid_type');
    const later = new FormData();
    later.append('purpose', 'batch');
    later.append('file', blob(1_001 * KB), 'a.png');
    await expectFault(later, 'invalid_value');
    const whole = new FormData();
    for (let at = 0; at < 3; at++) whole.append('file', blob(1_000 * KB), 'a.png');
    await expectFault(whole, 'payload_too_large');
    const nul = new FormData();
    nul.append('prompt', 'a\0b');
    await expectFault(nul, 'invalid_unicode');
  });

  it('may have one file where the route takes no more', async () => {
    const form = new FormData();
    form.append('file', blob(3), 'a.png');
    expect((await send(form, { only: 'file' })).status).toBe(200);
    form.append('file', blob(900 * KB), 'b.png');
    await expectFault(form, 'too_many_items', { only: 'file' });
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['no end', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nxxxx'],
    ['half a head', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-da'],
    ['another boundary', 'multipart/form-data; boundary=b', '--c\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--c--\r\n'],
    ['a part without a name', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
  ])('with %s is malformed', async (_what, type, body) => {
    await expectFault(body, 'invalid_multipart', { 'content-type': type });
  }); // prettier-ignore

  it('is 415 at a route that does not accept it', async () => {
    const reply = await fetch(`${server.url}/json`, { method: 'POST', body: new FormData() });
    expect([reply.status, ((await reply.json()) as any).error.code]).toEqual([415, 'unsupported_media_type']);
  });

  function begin(length: number, body: string): Socket {
    const socket = connect((server.fastify.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined).resume(); // prettier-ignore
    sockets.push(socket);
    socket.write(
      `POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n` +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${body}`,
    );
    return socket;
  }
  const filesOnDisk = () => scratchFolders().flatMap((name) => readdirSync(`${tmpdir()}/${name}`));

  it('leaves nothing when its client hangs up in the middle of a file', async () => {
    const socket = begin(500 * KB, 'x'.repeat(100 * KB));
    await eventually('the file to begin', async () => filesOnDisk().length === 1);
    socket.destroy();
    await eventually('no scratch file to be left', async () => scratchFolders().length === 0);
  });

  it('is refused past the uploads that one key may have in progress', async () => {
    for (let at = 0; at < 4; at++) begin(500 * KB, 'x');
    await eventually('four uploads', async () => filesOnDisk().length === 4);
    const form = new FormData();
    form.append('prompt', 'x');
    expect(await send(form)).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    sockets.forEach((socket) => socket.destroy());
    await eventually('the places to be free', async () => (await send(form)).status === 200);
  });

  it('is refused when the disk is full of uploads of its key, which leaves room for others', async () => {
    const [form, rest] = [new FormData(), new FormData()];
    form.append('file', blob(900 * KB), 'a.png');
    rest.append('file', blob(500 * KB), 'a.png');
    for (let at = 0; at < 2; at++) expect((await send(form)).status).toBe(200);
    expect(await send(rest)).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect((await send(rest, { owner: 'key_2' })).status).toBe(200);
    await server.forms.shift()!.dispose();
    expect((await send(rest)).status).toBe(200);
  });

  it('is refused when the disk is full of other uploads, until they are disposed of', async () => {
    const form = new FormData();
    form.append('file', blob(900 * KB), 'a.png');
    expect((await send(form)).status).toBe(200);
    expect((await send(form)).status).toBe(200);
    const other = { owner: 'key_2' };
    expect(await send(form, other)).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
    await server.forms.pop()!.dispose();
    expect((await send(form, other)).status).toBe(200);
  });
});

describe('the time of a form', () => {
  // Those of Node itself run on the true clock: `requestTimeoutMs` and `headersTimeoutMs`.
  const limits = {
    requestTimeoutMs: 1_000,
    headersTimeoutMs: 1_000,
    timeoutCheckMs: 50,
    uploads: { ...UPLOADS, totalMs: 2_500, bytesPerS: 10 * KB, paceWindowMs: 1_000 },
  };
  let edge: FastifyInstance;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    edge = createEdge({ ...HTTP_LIMITS, ...limits }).fastify;
    edge.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
    const body = { multipart: true, jsonBytes: 20 * 1024 * 1024 };
    edge.post('/form', { config: { body } }, async ({ body }) => {
      if (!(body instanceof MultipartBody)) return JSON.stringify(body).length;
      const form = await body.read({ owner: 'key_1' });
      await form.dispose();
      return form.files.length;
    });
    await edge.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => edge.close());
  beforeEach(() => stopClock());
  afterEach(() => {
    jest.useRealTimers();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  /** Sends the head of a request, and leaves its body, with `bytes` between head and tail, to the test. */
  async function begin(type: string, [head, tail]: [string, string], bytes: number) {
    const accepted = once(edge.server, 'connection') as Promise<[Socket]>;
    const socket = connect((edge.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    const [served] = await accepted;
    let sent = 0;
    const send = async (text: string) => {
      socket.write(text);
      sent += text.length;
      await eventually('the bytes to arrive', async () => served.bytesRead === sent);
    };
    const length = head.length + bytes + tail.length;
    await send(`POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${head}`);
    return {
      served,
      send: (bytes: number) => send('x'.repeat(bytes)),
      end: () => socket.write(tail),
      status: async () => {
        await eventually('an answer', async () => answer !== '');
        return Number(answer.split(' ')[1]);
      },
      closed: () => eventually('the connection to be closed', async () => socket.destroyed || socket.readableEnded),
    };
  }
  const watched = () => eventually('the watch', async () => jest.getTimerCount() > 0);
  const FORM: [string, string] = [
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    '\r\n--b--\r\n',
  ];
  const JSON_TEXT: [string, string] = ['{"a":"', '"}'];
  const TYPE = 'multipart/form-data; boundary=b';

  it('may be longer than that of other requests', async () => {
    const late = new Set<unknown>();
    edge.server.on('clientError', (_error, socket) => late.add(socket));
    const requests = [await begin(TYPE, FORM, 2 * KB), await begin('application/json', JSON_TEXT, 2 * KB)];
    await eventually('the time of other requests to be over', async () =>
      requests.every((each) => late.has(each.served)),
    );
    for (const request of requests) {
      await request.send(2 * KB);
      request.end();
      expect(await request.status()).toBe(200);
    }
  });

  it.each([
    [TYPE, FORM],
    ['application/json', JSON_TEXT],
  ])('ends when the client sends too slowly: %s', async (type, text) => {
    const request = await begin(type, text, 1 * KB);
    await watched();
    for (let ms = 0; ms < 900; ms += 100) {
      await request.send(10);
      await pass(100);
    }
    expect(request.served.bytesWritten).toBe(0);
    await pass(100);
    expect(await request.status()).toBe(408);
    await pass(UPLOADS.lingerMs);
    await request.closed();
    await eventually('no scratch file to be left', async () => scratchFolders().length === 0);
  });

  it('ends only the connection when the request was refused unread', async () => {
    // A type that no parser takes, at a route for large JSON bodies.
    const refused = await begin('text/plain', ['a', 'z'], 0);
    expect(await refused.status()).toBe(415);
    await pass(UPLOADS.lingerMs);
    await refused.closed();
    const next = await begin('application/json', JSON_TEXT, 2 * KB);
    await next.send(2 * KB);
    next.end();
    expect(await next.status()).toBe(200);
  });

  it('ends at the limit of the whole', async () => {
    const request = await begin(TYPE, FORM, 200 * KB);
    await watched();
    for (let ms = 0; ms < 2_500; ms += 500) {
      await request.send(20 * KB);
      await pass(500);
    }
    expect(request.served.bytesWritten).toBe(0);
    await pass(100);
    expect(await request.status()).toBe(408);
    await eventually('no scratch file to be left', async () => scratchFolders().length === 0);
  });
});

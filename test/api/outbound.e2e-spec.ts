import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { StoredImages } from '../../src/files/images/stored-images.ts';
import { ReferenceImages } from '../../src/generation/images/reference-images.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { connectTo } from '../../src/platform/outbound/connect.ts';
import { NameResolver } from '../../src/platform/outbound/name-resolver.ts';
import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import { Outbound, type OutboundRequest } from '../../src/platform/outbound/outbound.ts';
import { attackUrls } from '../support/hostile/attack-list.ts';
import { Canary } from '../support/hostile/canary.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import { DnsServer } from '../support/servers/dns-server.ts';
import { drip } from '../support/servers/drip.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a test may take: what ends, ends for another reason. */
const NEVER_MS = 600_000;
/** The one allowed address represents the public internet here. The canary listens on all others. */
const PUBLIC = '127.0.0.2';

const webhook: OutboundRequest = {
  purpose: 'webhook',
  method: 'POST',
  body: '{"type":"task.completed"}',
  headers: { 'content-type': 'application/json' },
  timeoutMs: 60_000,
  maxResponseBytes: 1000,
};
const image: OutboundRequest = {
  purpose: 'image',
  method: 'GET',
  timeoutMs: 60_000,
  maxResponseBytes: 1000,
  maxRedirects: 3,
};

let canary: Canary;
let dns: DnsServer;
let strict: Outbound;
let open: Outbound;
/** The answer of the server on PUBLIC; each test sets it. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let base: string;
const closing: (() => Promise<unknown>)[] = [];

function outbound(env: Record<string, string>): Outbound {
  return new Outbound(loadConfig(env), new NameResolver([dns.address]));
}

/** @returns the kind of error, or the status */
async function outcome(client: Outbound, url: string, options: OutboundRequest): Promise<string | number> {
  try {
    return (await client.request(url, options)).status;
  } catch (error) {
    if (error instanceof OutboundError) return error.kind;
    throw error;
  }
}

async function listen(listener: TcpServer, host: string): Promise<number> {
  listener.listen(0, host);
  await once(listener, 'listening');
  closing.push(async () => listener.close());
  return (listener.address() as AddressInfo).port;
}

beforeAll(async () => {
  canary = await Canary.start();
  let asked = 0;
  dns = await DnsServer.start({
    'good.test': { A: [PUBLIC] },
    'other.test': { A: [PUBLIC] },
    'loopback.test': { A: ['127.0.0.1'] },
    'mixed.test': { A: [PUBLIC, '127.0.0.1'] },
    'mixed-order.test': { A: ['127.0.0.1', PUBLIC] },
    'mixed-family.test': { A: [PUBLIC], AAAA: ['::1'] },
    'public-and-private.test': { A: ['8.8.8.8', '10.0.0.1'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
    'compatible.test': { AAAA: ['::127.0.0.1'] },
    'nat64.test': { AAAA: ['64:ff9b::7f00:1'] },
    'sixtofour.test': { AAAA: ['2002:7f00:1::1'] },
    'local6.test': { AAAA: ['fd00::1'] },
    'linklocal.test': { AAAA: ['fe80::1'] },
    'unspecified.test': { A: ['0.0.0.0'], AAAA: ['::'] },
    'metadata.test': { A: ['169.254.169.254'] },
    'cname.test': { CNAME: 'localhost' },
    'cname-resolved.test': { CNAME: 'localhost', A: ['127.0.0.1'], AAAA: ['::1'] },
    'rebinding.test': { A: () => [asked++ === 0 ? PUBLIC : '127.0.0.1'] },
    'empty.test': {},
    'silent.test': { silent: true },
  });
  strict = outbound({});
  open = outbound({ OUTBOUND_ALLOW_CIDRS: `${PUBLIC}/32`, OUTBOUND_ALLOW_HTTP: 'true' });
  server = createServer((request, response) => answer(request, response));
  base = `http://good.test:${await listen(server, PUBLIC)}`;
});

afterAll(async () => {
  server.closeAllConnections();
  for (const close of closing) await close();
  await dns.stop();
  await canary.stop();
});

beforeEach(() => {
  canary.connections = 0;
  canary.bytes = 0;
});

const HOSTILE_NAMES =
  `loopback mixed mixed-order mixed-family public-and-private mapped compatible nat64 sixtofour local6
  linklocal unspecified metadata cname cname-resolved empty`
    .split(/\s+/)
    .map((name) => `${name}.test`);

const fetching = () => ({ apiKeyId: 'key_a', folder: '/nonexistent', signal: AbortSignal.timeout(60_000) });

/** No URL here is a link of the service. */
const NO_FILES = { fileIdIn: () => null } as unknown as StoredImages;

describe('the attack list', () => {
  it('reaches the canary if every address is allowed', async () => {
    const free = outbound({ OUTBOUND_ALLOW_CIDRS: '0.0.0.0/0,::/0', OUTBOUND_ALLOW_HTTP: 'true' });
    const reached = await Promise.all(
      attackUrls(canary.port)
        .filter((url) => /^http:\/\/([0127.xf]+|\[(::1|::ffff:7f00:1)\]|localhost):\d+\/$/i.test(url))
        .map((url) => outcome(free, url, { ...image, timeoutMs: 60_000 })),
    );
    expect(reached.filter((status) => status === 200).length).toBeGreaterThan(15);
    expect(canary.connections).toBeGreaterThan(15);
  });

  it('never reaches the canary, as webhook and as image, by URL and by name', async () => {
    const urls = [
      ...attackUrls(canary.port),
      ...HOSTILE_NAMES.flatMap((name) => [`http://${name}:${canary.port}/`, `https://${name}:${canary.port}/`]),
    ];
    expect(urls.length).toBeGreaterThan(200);
    const images = new ReferenceImages(strict, NO_FILES);
    for (const url of urls) {
      // Each refusal happens before any connection, so nothing here waits for a time-out.
      expect([url, await outcome(strict, url, webhook)]).toEqual([
        url,
        expect.stringMatching(/^(blocked_address|dns_failure)$/),
      ]);
      expect([url, await outcome(strict, url, image)]).toEqual([
        url,
        expect.stringMatching(/^(blocked_address|dns_failure)$/),
      ]);
      const fetched = images.fetchAll([{ param: 'reference_images[0]', url }], fetching());
      await expect(fetched).rejects.toMatchObject({
        code: 'reference_image_fetch_failed',
        param: 'reference_images[0]',
        message: 'A reference image could not be fetched.',
      });
    }
    expect(canary.connections).toBe(0);
  });

  it('never reaches the canary through a redirect', async () => {
    const targets = attackUrls(canary.port).filter(leadsElsewhere);
    answer = ({ url }, response) => {
      const { searchParams } = new URL(url!, base);
      response.writeHead(Number(searchParams.get('status')), { location: searchParams.get('to')! }).end();
    };
    const images = new ReferenceImages(open, NO_FILES);
    for (const [i, target] of targets.entries()) {
      const status = [301, 302, 303, 307, 308][i % 5];
      const url = `${base}/?${new URLSearchParams({ status: String(status), to: target })}`;
      expect([target, await outcome(open, url, image)]).toEqual([
        target,
        expect.stringMatching(/^(blocked_address|dns_failure)$/),
      ]);
      expect(await outcome(open, url, webhook)).toBe(status);
      const fetched = images.fetchAll([{ param: 'first_frame_image_url', url }], fetching());
      await expect(fetched).rejects.toMatchObject({
        code: 'reference_image_fetch_failed',
        param: 'first_frame_image_url',
      });
    }
    expect(canary.connections).toBe(0);
  });

  it('ignores the proxy variables of the environment', async () => {
    const before = { ...process.env };
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']) {
      process.env[name] = `http://127.0.0.1:${canary.port}`;
    }
    process.env.NODE_USE_ENV_PROXY = '1';
    answer = (_request, response) => response.end();
    expect(await outcome(open, base, webhook)).toBe(200);
    process.env = before;
    expect(canary.connections).toBe(0);
  });
});

describe('names', () => {
  it('queries DNS once per request, and refuses when the name has changed to loopback', async () => {
    answer = (_request, response) => response.end();
    const url = base.replace('good.test', 'rebinding.test');
    dns.questions.length = 0;
    expect(await outcome(open, url, webhook)).toBe(200);
    expect(dns.questions.filter((question) => question === 'A rebinding.test')).toHaveLength(1);
    expect(await outcome(open, url, webhook)).toBe('blocked_address');
    expect(await outcome(open, url.replace(/:\d+$/, `:${canary.port}`), image)).toBe('blocked_address');
    expect(canary.connections).toBe(0);
  });

  it.each(['mixed.test', 'mixed-order.test', 'mixed-family.test'])(
    'connects to no address of %s, which has public and private ones',
    async (name) => {
      let served = 0;
      answer = (_request, response) => response.end(String(served++));
      expect(await outcome(open, base.replace('good.test', name), webhook)).toBe('blocked_address');
      expect([served, canary.connections]).toEqual([0, 0]);
    },
  );

  it('refuses database ports for a name, except at an allowed address', async () => {
    expect(await outcome(strict, 'https://good.test:5432/', webhook)).toBe('blocked_address');
    expect(await outcome(open, 'http://public-and-private.test:5432/', webhook)).toBe('blocked_address');
    expect(await outcome(open, 'http://good.test:5432/', webhook)).toBe('connect_failed'); // allowed, but no server listens
  });

  it('stops waiting for a silent DNS server before the time-out, and resolves other names meanwhile', async () => {
    answer = (_request, response) => response.end();
    const slow = Array.from({ length: 20 }, () =>
      outcome(open, base.replace('good', 'silent'), { ...webhook, timeoutMs: NEVER_MS }),
    );
    expect(await Promise.race([outcome(open, base, webhook), ...slow])).toBe(200);
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['dns_failure']));
  });

  it('checks the connected address again before it writes a byte', async () => {
    const config = loadConfig({});
    const url = new URL(`http://good.test:${canary.port}/`);
    const connected = connectTo(url, ['127.0.0.1'], config, AbortSignal.timeout(60_000));
    await expect(connected).rejects.toMatchObject({ kind: 'blocked_address' });
    const secured = connectTo(
      new URL(url.href.replace('http', 'https')),
      ['127.0.0.1'],
      config,
      AbortSignal.timeout(60_000),
    );
    await expect(secured).rejects.toMatchObject({ kind: 'blocked_address' });
    expect(canary.bytes).toBe(0);
  });
});

describe('answers', () => {
  it('sends method, path, headers and body, and returns status, headers and body', async () => {
    const seen: unknown[] = [];
    answer = async (request, response) => {
      const body = (await request.toArray()).join('');
      seen.push(
        request.method,
        request.url,
        request.headers.host,
        request.headers['x-a'],
        request.headers['user-agent'],
        body,
      );
      response.writeHead(202, { 'retry-after': '7' }).end('thanks');
    };
    const got = await open.request(`${base}/hook?a=b%20c#d`, { ...webhook, headers: { 'x-a': '1' } });
    expect(got).toMatchObject({ status: 202, url: `${base}/hook?a=b%20c#d`, body: Buffer.from('thanks') });
    expect(got.headers['retry-after']).toBe('7');
    const host = new URL(base).host;
    const agent = expect.stringMatching(/^Darkroom\/\d+\.\d+\.\d+ \(\+webhooks\)$/);
    expect(seen).toEqual(['POST', '/hook?a=b%20c', host, '1', agent, webhook.body]);
  });

  it('follows three redirects of an image and no fourth, each on a new connection', async () => {
    const ports = new Set<number>();
    answer = ({ url, socket, headers }, response) => {
      ports.add(socket.remotePort!);
      const left = Number(url!.slice(1));
      if (left === 0) response.end(headers['user-agent']);
      else response.writeHead(302, { location: `/${left - 1}` }).end('x'.repeat(5000));
    };
    const got = await open.request(`${base}/3`, image);
    expect(got).toMatchObject({ status: 200, url: `${base}/0` });
    expect(got.body.toString()).toMatch(/^Darkroom\/.+ \(\+reference images\)$/);
    expect(ports.size).toBe(4);
    expect(await outcome(open, `${base}/4`, image)).toBe('redirect_loop');
  });

  it('sends headers of the first origin to no other', async () => {
    const secrets: unknown[] = [];
    answer = ({ url, headers }, response) => {
      secrets.push(headers.authorization);
      if (url === '/') response.writeHead(307, { location: base.replace('good', 'other') + '/x' });
      response.end();
    };
    expect(await outcome(open, base, { ...image, headers: { authorization: 'Bearer x' } })).toBe(200);
    expect(secrets).toEqual(['Bearer x', undefined]);
  });

  it('refuses plain http for a webhook unless the operator allows it', async () => {
    const secure = outbound({ OUTBOUND_ALLOW_CIDRS: `${PUBLIC}/32` });
    answer = (_request, response) => response.end();
    expect(await outcome(secure, base, webhook)).toBe('blocked_address');
    expect(await outcome(secure, base, image)).toBe(200);
  });

  it('stops reading an endless body: truncated for a webhook, an error for an image', async () => {
    let sent = 0;
    answer = (_request, response) => {
      const pour = () => {
        while (!response.destroyed && sent < 1e9 && response.write('x'.repeat(10_000))) sent += 10_000;
      };
      response.on('drain', pour);
      pour();
    };
    expect((await open.request(base, webhook)).body).toHaveLength(1000);
    expect((await open.request(base, { ...webhook, maxResponseBytes: 0 })).body).toHaveLength(0);
    expect(await outcome(open, base, image)).toBe('too_large');
    expect(sent).toBeLessThan(20e6); // what the buffers of three connections hold
  });

  it('accepts exactly as many bytes as allowed', async () => {
    answer = ({ url }, response) => response.end('x'.repeat(Number(url!.slice(1))));
    expect((await open.request(`${base}/1000`, image)).body).toHaveLength(1000);
    expect(await outcome(open, `${base}/1001`, image)).toBe('too_large');
    expect((await open.request(`${base}/1001`, webhook)).body).toHaveLength(1000);
  });

  it('refuses a Content-Length over the bound at once, and a wrong one', async () => {
    answer = ({ url }, response) => {
      const length = url!.slice(1);
      response.socket!.end(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nfour`);
    };
    expect(await outcome(open, `${base}/1001`, image)).toBe('too_large');
    expect(await outcome(open, `${base}/5`, image)).toBe('connect_failed');
    expect(await outcome(open, `${base}/-1`, image)).toBe('connect_failed');
    // More bytes than announced: the parser may notice before or after the answer is complete.
    const short = await open.request(`${base}/3`, image).then(
      ({ body }) => body.toString(),
      (error: OutboundError) => error.kind,
    );
    expect(short).toMatch(/^(fou|connect_failed)$/);
  });

  it('does not decompress bodies', async () => {
    const bomb = gzipSync(Buffer.alloc(900_000));
    answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const { body } = await open.request(base, { ...image, maxResponseBytes: 2000 });
    expect(body).toEqual(bomb);
  });

  it.each([
    ['no answer at all', ''],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`],
    ['a line break in a header', 'HTTP/1.1 200 OK\r\nx: a\nb\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
  ])('fails when a server sends %s', async (_name, bytes) => {
    answer = (_request, response) => response.socket!.end(bytes);
    expect(await outcome(open, base, webhook)).toBe('connect_failed');
  });

  it.each([
    [100, 200],
    [101, 'connect_failed'],
  ])('after %s informational answers: %s', async (count, expected) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count);
    answer = (_request, response) => response.socket!.end(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
    expect(await outcome(open, base, webhook)).toBe(expected);
  });

  it('reports connect_failed when no server listens', async () => {
    const port = await listen(createTcpServer(), PUBLIC);
    await closing.pop()!();
    expect(await outcome(open, `http://good.test:${port}/`, webhook)).toBe('connect_failed');
  });
});

describe('time', () => {
  it.each<[string, (response: ServerResponse) => unknown]>([
    ['no answer', () => {}],
    ['a body that drips', (response) => drip(response.writeHead(200, { 'content-length': 100 }))],
    ['headers that drip', ({ socket }) => socket!.write('HTTP/1.1 200 OK\r\nx: ') && drip(socket!)],
    ['a body that stops', (response) => response.write('x')],
  ])('ends %s at the time-out', async (_name, serve) => {
    answer = (_request, response) => serve(response);
    expect(await outcome(open, base, { ...webhook, timeoutMs: 300 })).toBe('timeout');
  });

  it('includes redirects in the time-out', async () => {
    answer = (_request, response) => response.writeHead(302, { location: '/' }).end(); // each at once, without end
    expect(await outcome(open, base, { ...image, timeoutMs: 300, maxRedirects: Infinity })).toBe('timeout');
  });

  it('ends a connection that is not ready after 5 s, however long the request may take', async () => {
    const port = await listen(createTcpServer(), PUBLIC); // accepts and never starts TLS
    expect(await outcome(open, `https://good.test:${port}/`, { ...webhook, timeoutMs: NEVER_MS })).toBe('timeout');
  });

  it('ends at once with the reason of the caller when it aborts, and closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const caller = new AbortController();
    const reason = new Error('cancelled');
    answer = ({ socket }) => {
      socket.once('close', closed.resolve);
      caller.abort(reason);
    };
    await expect(open.request(base, { ...webhook, signal: caller.signal })).rejects.toBe(reason);
    await closed.promise;
    await expect(open.request(base, { ...webhook, signal: caller.signal })).rejects.toBe(reason);
  });
});

describe('connections', () => {
  /** A client without connections of earlier tests. */
  const fresh = () => outbound({ OUTBOUND_ALLOW_CIDRS: `${PUBLIC}/32`, OUTBOUND_ALLOW_HTTP: 'true' });
  const count = () => new Promise<number>((resolve) => server.getConnections((_error, n) => resolve(n)));

  it('are reused for successive webhooks, and closed a second after the last', async () => {
    const ports = new Set<number>();
    answer = ({ socket }, response) => {
      ports.add(socket.remotePort!);
      response.end('done');
    };
    const client = fresh();
    for (let nth = 0; nth < 5; nth++) expect(await outcome(client, base, webhook)).toBe(200);
    expect(ports.size).toBe(1);
    expect(await outcome(client, base, image)).toBe(200);
    expect(ports.size).toBe(2);
    await eventually('all to be closed', async () => (await count()) === 0);
  });

  it('serve one request at a time, and are all closed afterwards', async () => {
    const ports = new Set<number>();
    const waiting: ServerResponse[] = [];
    answer = ({ socket }, response) => {
      ports.add(socket.remotePort!);
      if (waiting.push(response) < 50) return; // no connection is free before all requests have arrived
      for (const each of waiting) each.end('done');
    };
    await Promise.all(Array.from({ length: 50 }, () => open.request(base, webhook)));
    expect(ports.size).toBe(50);
    await eventually('all to be closed', async () => (await count()) === 0);
  });

  it('are not reused after a truncated answer, a redirect, or Connection: close', async () => {
    const ports: number[] = [];
    answer = ({ url, socket }, response) => {
      ports.push(socket.remotePort!);
      if (url === '/long') response.end('x'.repeat(2000));
      if (url === '/moved') response.writeHead(302, { location: '/' }).end();
      if (url === '/last') response.writeHead(200, { connection: 'close' }).end();
    };
    for (const path of ['/long', '/moved', '/last', '/long']) await outcome(open, base + path, webhook);
    expect(new Set(ports).size).toBe(4);
  });

  it('are replaced if the server closed them while idle; a new connection that breaks is not', async () => {
    let requests = 0;
    const served = new WeakSet<object>();
    answer = ({ socket }, response) => {
      requests += 1;
      if (served.has(socket)) return void socket.destroy();
      served.add(socket);
      response.end('done');
    };
    const client = fresh();
    expect(await outcome(client, base, webhook)).toBe(200);
    expect(await outcome(client, base, webhook)).toBe(200);
    expect(requests).toBe(3);
    answer = ({ socket }) => {
      requests += 1;
      socket.destroy();
    };
    expect(await outcome(fresh(), base, webhook)).toBe('connect_failed');
    expect(requests).toBe(4);
  });
});

describe('TLS', () => {
  const { key, cert } = makeCertificate('good.test');
  const defaultAuthorities = tls.getCACertificates('default');
  let requests = 0;
  let secure: string;

  beforeAll(async () => {
    const listener = createTlsServer({ key, cert }, (_request, response) => response.end(String(requests++)));
    secure = `https://good.test:${await listen(listener, PUBLIC)}`;
  });
  beforeEach(() => {
    requests = 0;
    tls.setDefaultCACertificates([...defaultAuthorities, cert]);
  });
  afterAll(() => tls.setDefaultCACertificates(defaultAuthorities));

  it('accepts a certificate of a known authority for this name', async () => {
    expect(await outcome(open, secure, webhook)).toBe(200);
    expect(await outcome(open, secure.replace('good.test', 'GOOD.test.'), webhook)).toBe(200);
  });

  it.each(['other.test', PUBLIC])('refuses a certificate for another name than %s', async (host) => {
    expect(await outcome(open, secure.replace('good.test', host), webhook)).toBe('tls_error');
    expect(requests).toBe(0);
  });

  it('refuses a certificate of an unknown authority', async () => {
    tls.setDefaultCACertificates(defaultAuthorities);
    const fresh = outbound({ OUTBOUND_ALLOW_CIDRS: `${PUBLIC}/32` });
    expect(await outcome(fresh, secure, webhook)).toBe('tls_error');
    expect(requests).toBe(0);
  });

  it('refuses it even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    // In a separate process, because Node does not see the environment that Jest gives to tests.
    const script = `
      const { connectTo } = await import(process.argv[1]);
      const rules = { outboundAllowCidrs: ['${PUBLIC}/32'], outboundAllowHttp: false };
      const connected = connectTo(new URL('${secure}'), ['${PUBLIC}'], rules, AbortSignal.timeout(60_000));
      console.log(await connected.then(() => 'connected', (error) => error.kind));
      process.exit();`;
    const flags = ['--experimental-transform-types', '--input-type=module', '--eval', script];
    const file = new URL('../../src/platform/outbound/connect.ts', import.meta.url).href;
    const env = { ...process.env, NODE_OPTIONS: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, file], { env });
    expect(stdout.trim()).toBe('tls_error');
  });

  it('reports tls_error when the server speaks plain HTTP', async () => {
    answer = (_request, response) => response.end();
    expect(await outcome(open, base.replace('http:', 'https:'), webhook)).toBe('tls_error');
  });
});

/** False for invalid header values, for PUBLIC, and for what parses as a relative path. */
function leadsElsewhere(target: string): boolean {
  if (/[^\u0020-\u007e]/.test(target) || target.includes(PUBLIC)) return false;
  return URL.parse(target, base)?.origin !== new URL(base).origin;
}

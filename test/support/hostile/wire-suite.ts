import { once } from 'node:events';
import type { Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { aCat } from '../clients/api.ts';
import { HostileClient, assertOrderly } from './client.ts';
import type { Form } from './form.ts';
import type { HostileService } from './service.ts';
import { drip, sendRaw } from './wire.ts';

const MIB = 1024 * 1024;

const get = 'GET /v1/models HTTP/1.1\r\n';
const post = 'POST /v1/generations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;

/** Invalid HTTP. Each request breaks one rule of RFC 9112. */
export const BROKEN: Record<string, string | Buffer> = {
  'an empty line and junk': '\r\n\r\nhello\r\n\r\n',
  'only NULs': Buffer.alloc(100),
  'random bytes': Buffer.from(Array.from({ length: 400 }, (_, index) => (index * 167 + 13) % 256)),
  'a TLS hello': Buffer.from('16030100a5010000a10303', 'hex'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  SSH: 'SSH-2.0-OpenSSH_9.0\r\n\r\n',
  'a proxy header': 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\n\r\n',
  'HTTP/0.9': 'GET /\r\n\r\n',
  'HTTP/9.9': 'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
  'no version': 'GET /v1/models\r\nHost: x\r\n\r\n',
  'a version in small letters': 'GET / http/1.1\r\nHost: x\r\n\r\n',
  'a method in small letters': 'get /v1/models HTTP/1.1\r\nHost: x\r\n\r\n',
  'an unknown method': 'CAKE /v1/models HTTP/1.1\r\nHost: x\r\n\r\n',
  'a method with a NUL': 'G\0T / HTTP/1.1\r\nHost: x\r\n\r\n',
  'a space in the address': 'GET /v1/mo dels HTTP/1.1\r\nHost: x\r\n\r\n',
  'no Host': `${get}\r\n`,
  'two Hosts': `${get}Host: x\r\nHost: y\r\n\r\n`,
  'a space before the colon': `${get}Host : x\r\n\r\n`,
  'a header without a colon': `${get}Host: x\r\nnothing\r\n\r\n`,
  'a header without a name': `${get}Host: x\r\n: value\r\n\r\n`,
  'a folded header': `${get}Host: x\r\nX-A: a\r\n b\r\n\r\n`,
  'a header with a NUL': `${get}Host: x\r\nX-A: a\0b\r\n\r\n`,
  'a header with a bare CR': `${get}Host: x\r\nX-A: a\rX-B: b\r\n\r\n`,
  'line feeds alone': 'GET /v1/models HTTP/1.1\nHost: x\n\n',
  'a space before the first header': `${get} Host: x\r\n\r\n`,
  'an invalid length': `${post}Content-Length: abc\r\n\r\n`,
  'a negative length': `${post}Content-Length: -1\r\n\r\n`,
  'a length with a plus': `${post}Content-Length: +2\r\n\r\n{}`,
  'a length in hex': `${post}Content-Length: 0x2\r\n\r\n{}`,
  'a length past all integers': `${post}Content-Length: 99999999999999999999999\r\n\r\n{}`,
  'two lengths': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'a list of lengths': `${post}Content-Length: 2, 3\r\n\r\n{}`,
  'length and chunks': `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks not last': `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  'chunks twice': `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n\r\n`,
  'an unknown encoding': `${post}Transfer-Encoding: cake\r\n\r\n`,
  'chunks with a tab': `${post}Transfer-Encoding:\tchunked \x0b\r\n\r\n0\r\n\r\n`,
  'a chunk of no size': `${chunked}\r\nxx\r\n`,
  'a chunk of a bad size': `${chunked}zz\r\nxx\r\n`,
  'a chunk of a huge size': `${chunked}ffffffffffffffffff\r\nxx\r\n`,
  'a chunk of negative size': `${chunked}-1\r\nxx\r\n`,
  'a chunk longer than it says': `${chunked}1\r\nxxxxxx\r\n0\r\n\r\n`,
  'chunk extensions without end': `${chunked}2;${'a'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`,
  'trailers without end': `${chunked}2\r\n{}\r\n0\r\n${'X-A: b\r\n'.repeat(5_000)}\r\n`,
  'a smuggled request': `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n`,
  'one long header': `${get}Host: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
  'many short headers': `${get}Host: x\r\n${Array.from({ length: 5_000 }, (_, index) => `X-${index}: a\r\n`).join('')}\r\n`,
  'one header 3,000 times': `${get}Host: x\r\n${'A:b\r\n'.repeat(3_000)}\r\n`,
  'a long address': `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  'a long method': `${'A'.repeat(100_000)} / HTTP/1.1\r\nHost: x\r\n\r\n`,
  'an absolute address elsewhere': 'GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n',
  'an address of two slashes': 'GET //evil.example/%2e%2e HTTP/1.1\r\nHost: x\r\n\r\n',
  'an address that climbs': 'GET /docs/../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n',
  'an encoded climb': 'GET /docs/..%2f..%2fpackage.json HTTP/1.1\r\nHost: x\r\n\r\n',
  'an address of high bytes': Buffer.from('GET /v1/tasks/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n', 'latin1'),
  CONNECT: 'CONNECT 127.0.0.1:5432 HTTP/1.1\r\nHost: x\r\n\r\n',
  TRACE: 'TRACE /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer hunter2\r\n\r\n',
  'an unknown expectation': `${post}Expect: cake\r\nContent-Length: 0\r\n\r\n`,
  'a WebSocket of no version': 'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'a WebSocket with a bad key':
    'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n',
  'a WebSocket elsewhere': 'GET /v1/tasks HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
};

/** @param started returns the service, which the caller starts before the tests and stops after them */
export function attackWire(started: () => HostileService, form: Form): void {
  describe('hostile bytes', () => {
    let client: HostileClient;
    beforeAll(() => {
      const { api, port } = started();
      client = new HostileClient(port, api.key, form.hangMs);
    });
    afterAll(() => client.close());
    afterEach(() => expect(started().child.exitCode).toBeNull());

    /** Adds a valid key, so that the request can be refused only for its fault. */
    const withKey = (bytes: string | Buffer): string | Buffer =>
      typeof bytes === 'string'
        ? bytes.replace('Host: x\r\n', `Host: x\r\nAuthorization: Bearer ${started().api.key}\r\n`)
        : bytes;

    it.each(Object.entries(BROKEN))('%s: refused with the error envelope', async (_name, bytes) => {
      let answer = await sendRaw(started().port, [withKey(bytes)]);
      // A busy machine gets a second attempt.
      if (answer.ms >= form.hangMs) answer = await sendRaw(started().port, [withKey(bytes)]);
      const { status, head, body, ms } = answer;
      expect(ms).toBeLessThan(form.hangMs);
      expect(`${head}${body}`).not.toMatch(/\n\s+at |<html|node_modules|hunter2/i);
      expect(head).not.toMatch(/^(server|x-powered-by):/im);
      if (status === 0) throw new Error('The server closed the connection without a response.');
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      const { error } = JSON.parse(body) as { error: { request_id: string } };
      expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'request_id', 'type']);
      expect(head).toContain(`x-request-id: ${error.request_id}`);
      expect(head).toMatch(/^x-content-type-options: nosniff/im);
    });

    it.each([
      ['length and chunks', 'Content-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      ['chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n'],
      ['two lengths', 'Content-Length: 0\r\nContent-Length: 40\r\n\r\n'],
      ['chunks, misspelt', 'Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n'],
      ['chunks before a space', 'Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n'],
      ['a line feed in a size', 'Transfer-Encoding: chunked\r\n\r\n0\n\n'],
    ])('a request hidden by %s is not answered', async (_name, flaw) => {
      const hidden = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      const text = await untilClosed(
        started().port,
        String(withKey(`POST /v1/tasks/x/cancel HTTP/1.1\r\nHost: x\r\n${flaw}${hidden}`)),
      );
      expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual([expect.stringMatching(/^HTTP\/1\.1 4(00|15)$/)]);
    });

    it('headers with any byte: refused or ignored, never a 5xx', async () => {
      for (let code = 0; code < 256; code++) {
        const request = Buffer.from(
          `${get}Host: x\r\nX-A: a${String.fromCharCode(code)}b\r\nConnection: close\r\n\r\n`,
          'latin1',
        );
        const { status } = await sendRaw(started().port, [request]);
        expect([400, 401]).toContain(status);
      }
    });

    it('compressed bodies are refused', async () => {
      const bomb = Buffer.from(JSON.stringify({ ...aCat, prompt: ' '.repeat(50 * MIB) }));
      for (const [encoding, body] of [
        ['gzip', gzipSync(bomb)],
        ['deflate', deflateSync(bomb)],
        ['br', 'x'],
        ['gzip, gzip', 'x'],
      ] as const) {
        // prettier-ignore
        const outcome = await client.send({
        method: 'POST',
        path: '/v1/generations',
        headers: { 'content-encoding': encoding },
        body,
      });
        assertOrderly(outcome);
        expect(outcome.status).toBe(415);
      }
    });

    it('pipelined requests are answered one by one', async () => {
      const one = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
      const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      const text = await untilClosed(started().port, one.repeat(999) + last);
      expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1_000);
    });

    it('slow senders do not delay other clients', async () => {
      const sockets = slowSenders(started().port, form.slowSenders);
      try {
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        for (let time = 0; time < 50; time++) {
          const outcome = await client.send({ method: 'GET', path: '/v1/models' });
          assertOrderly(outcome);
          expect(outcome.status).toBe(200);
        }
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
  });
}

/** Slow clients. Each sends the beginning of a request, and then a byte every half second. */
export function slowSenders(port: number, amount: number): Socket[] {
  const openings = [
    'GET /v1/models HTTP/1.1\r\nHost: x\r\nX-A: ',
    `${post}Content-Length: 1000\r\n\r\n`,
    `${chunked}3e8\r\n`,
    '',
  ];
  return Array.from({ length: amount }, (_, index) => drip(port, openings[index % openings.length]!, 500));
}

async function untilClosed(port: number, bytes: string): Promise<string> {
  const socket = drip(port, bytes, 60_000);
  let text = '';
  socket.on('data', (data: Buffer) => (text += data.toString()));
  await once(socket, 'close');
  return text;
}

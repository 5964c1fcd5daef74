import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../wait.ts';

export interface RawResponse {
  /** 0: the server closed the connection without a response. */
  status: number;
  head: string;
  body: string;
  ms: number;
}

/** Writes raw bytes. Reads until the response is complete or the server closes the connection. */
export function sendRaw(
  port: number,
  pieces: readonly (string | Buffer)[],
  withinMs = PATIENCE_MS,
): Promise<RawResponse> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => pieces.forEach((piece) => socket.write(piece)));
    const done = (): void => {
      clearTimeout(hang);
      socket.destroy();
      const [head = '', ...rest] = text.split('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
      resolve({ status, head, body: rest.join('\r\n\r\n'), ms: performance.now() - startedAt });
    };
    const hang = setTimeout(() => {
      socket.destroy();
      reject(new Error(`Hangs: ${JSON.stringify(pieces.map(String).join('').slice(0, 200))} after ${text}`));
    }, withinMs);
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (isWhole(text)) done();
    });
    socket.on('close', done).on('error', () => undefined); // the server may close the connection while we still write
  });
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(text.slice(0, Math.max(end, 0)))?.[1];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** A slow connection. It sends `first`, and then one byte every `everyMs`, without end. */
export function drip(port: number, first: string, everyMs: number): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(first));
  const drops = setInterval(() => socket.write('a'), everyMs);
  socket.on('error', () => undefined).on('close', () => clearInterval(drops));
  return socket;
}

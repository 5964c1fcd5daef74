import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  /** 0: hung up without a word. */
  status: number;
  head: string;
  body: string;
  ms: number;
}

/** Writes bytes as they are and reads until the server hangs up or the answer is whole. */
export function sayOnWire(port: number, pieces: readonly (string | Buffer)[], withinMs = 20_000): Promise<WireAnswer> {
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
    socket.on('close', done).on('error', () => undefined); // cut by the server while we still write
  });
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(text.slice(0, Math.max(end, 0)))?.[1];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** A connection that says something and then nearly nothing, byte by byte, for ever. */
export function drip(port: number, first: string, everyMs: number): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(first));
  const drops = setInterval(() => socket.write('a'), everyMs);
  socket.on('error', () => undefined).on('close', () => clearInterval(drops));
  return socket;
}

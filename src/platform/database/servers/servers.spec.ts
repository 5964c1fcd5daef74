import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { ask } from './ask.ts';
import { hostsOf } from '../../config/database-hosts.ts';
import { Servers } from './servers.ts';

/** Of PostgreSQL's protocol: the session has begun. */
const BEGUN = Buffer.from('5200000008000000005a0000000549', 'hex');
const SSL_REQUEST = 80_877_103;

/**
 * A server without encryption, as far as a session begins.
 * @returns its port and what each connection has asked for first
 */
async function plainServer() {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        const wantsTls = bytes.length === 8 && bytes.readInt32BE(4) === SSL_REQUEST;
        asked.push(wantsTls ? 'encryption' : 'a session');
        socket.write(wantsTls ? 'N' : BEGUN);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, asked, close };
}

describe('a server that offers no encryption', () => {
  it.each(['prefer', 'allow'])('is used as it is with sslmode=%s, and asked once', async (mode) => {
    const { port, asked, close } = await plainServer();
    try {
      const servers = new Servers(`postgres://me@127.0.0.1:${port}/x?sslmode=${mode}`);
      for (let connection = 0; connection < 2; connection += 1) (await servers.connect({})).connection.stream.destroy();
      expect(asked).toEqual(['encryption', 'a session', 'a session']);
      expect(servers.url).toContain('sslmode=disable');
    } finally {
      close();
    }
  });

  it('is used as it is where several are asked for the primary', async () => {
    const { port, close } = await plainServer();
    const url = `postgres://me@127.0.0.1:${port},127.0.0.1:9/x?sslmode=prefer&target_session_attrs=primary`;
    try {
      const [host] = hostsOf(url).hosts;
      expect(await ask(host, 60_000)).toEqual({ host, role: 'unreported' });
    } finally {
      close();
    }
  });

  it('is refused with sslmode=require', async () => {
    const { port, close } = await plainServer();
    try {
      const servers = new Servers(`postgres://me@127.0.0.1:${port}/x?sslmode=require`);
      await expect(servers.connect({})).rejects.toThrow('does not support SSL');
    } finally {
      close();
    }
  });
});

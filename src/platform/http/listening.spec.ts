import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { listening } from './listening.ts';

describe('a server that cannot listen', () => {
  const listen = (server: Server, host: string, port: number) => async (): Promise<unknown> => {
    const failed = once(server, 'error').then(([error]) => Promise.reject(error as Error));
    return Promise.race([failed, once(server.listen(port, host), 'listening')]);
  };

  it.each([
    ['192.0.2.1', 'this machine has no such address (EADDRNOTAVAIL)'],
    ['::ffff:192.0.2.1', 'EADDRNOTAVAIL'],
  ])('names HOST=%s', async (host, reason) => {
    const refusal = listening({ host, variable: 'PORT', port: 9 }, listen(createServer(), host, 0));
    await expect(refusal).rejects.toThrow(`It cannot listen at HOST=${host} and PORT=9: `);
    await expect(refusal).rejects.toThrow(reason);
  });

  it('names the HOST that conda sets, which no machine has', async () => {
    const host = 'x86_64-conda-linux-gnu';
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    await expect(listening({ host, variable: 'PORT', port: 3000 }, () => Promise.reject(unknown))).rejects.toThrow(
      `It cannot listen at HOST=${host} and PORT=3000: HOST names no address of this machine (ENOTFOUND).`,
    );
  });

  it('names OPS_PORT, where another program listens', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const where = { host: '127.0.0.1', variable: 'OPS_PORT', port } as const;
    await expect(
      listening(where, listen(createServer(), '127.0.0.1', port)).finally(() => other.close()),
    ).rejects.toThrow(
      `It cannot listen at HOST=127.0.0.1 and OPS_PORT=${port}: another program listens there (EADDRINUSE).`,
    );
  });
});

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A forbidden target: it listens on every address of this machine and counts every connection. */
export class Canary {
  /** TCP connections accepted. */
  connections = 0;
  /** Bytes received over all of them. */
  bytes = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.connections++;
    this.sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.sockets.delete(socket));
    socket.on('data', (data) => {
      this.bytes += data.length;
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
    });
  });

  static async start(): Promise<Canary> {
    const canary = new Canary();
    canary.server.listen(0); // on :: and with it on 0.0.0.0; on 0.0.0.0 alone where there is no IPv6
    await once(canary.server, 'listening');
    return canary;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

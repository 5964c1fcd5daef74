import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A forbidden target: it listens on every address of this machine and counts every connection. */
export class Canary {
  /** How many TCP connections were accepted. */
  connections = 0;
  /** How many bytes all connections have received. */
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
    canary.server.listen(0); // listens on :: and so also on 0.0.0.0; without IPv6 only on 0.0.0.0
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

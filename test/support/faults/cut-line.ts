import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

interface Line {
  client: Socket;
  server: Socket;
}

/** A TCP line to a server that a test can cut: lines are dropped and new ones refused, until it is mended. */
export class CutLine {
  readonly port: number;
  private readonly lines = new Set<Line>();
  private isCut = false;
  private isFrozen = false;

  private constructor(
    private readonly listener: ReturnType<typeof createServer>,
    private readonly target: { host: string; port: number },
    /** Which connections the cut is for, by the first bytes that the client sends. */
    private readonly concerns: (firstBytes: Buffer) => boolean,
  ) {
    this.port = (listener.address() as AddressInfo).port;
    listener.on('connection', (client) => this.take(client));
  }

  static async to(
    host: string,
    port: number,
    concerns: (firstBytes: Buffer) => boolean = () => true,
  ): Promise<CutLine> {
    const listener = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new CutLine(listener, { host, port }, concerns);
  }

  cut(): void {
    this.isCut = true;
    for (const { client, server } of this.lines) {
      client.destroy();
      server.destroy();
    }
    this.lines.clear();
  }

  /** Nothing gets through any more, but nobody hangs up either. */
  freeze(): void {
    this.isFrozen = true;
    for (const { client, server } of this.lines) {
      client.unpipe(server).pause();
      server.unpipe(client).pause();
    }
  }

  mend(): void {
    this.isCut = false;
    this.isFrozen = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.listener.close();
    await once(this.listener, 'close');
  }

  private take(client: Socket): void {
    client.on('error', () => client.destroy());
    client.once('data', (first: Buffer) => {
      client.pause();
      const isConcerned = this.concerns(first);
      if (isConcerned && this.isCut) return void client.destroy();
      if (isConcerned && this.isFrozen) return undefined;
      const server = connect(this.target.port, this.target.host);
      server.on('error', () => client.destroy()).once('close', () => client.destroy());
      client.once('close', () => server.destroy());
      server.write(first);
      client.pipe(server).pipe(client);
      if (isConcerned) this.lines.add({ client, server });
      return undefined;
    });
    client.resume();
  }
}

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

interface Line {
  client: Socket;
  server: Socket;
}

/** A TCP proxy that a test can cut: it then closes its connections and refuses new ones until `mend()`. */
export class CutLine {
  readonly port: number;
  private readonly lines = new Set<Line>();
  /**
   * Connections that were opened while the proxy was frozen. Nothing reads them, so they would not notice that the
   * client has gone.
   */
  private readonly held = new Set<Socket>();
  private isCut = false;
  private isFrozen = false;

  private constructor(
    private readonly listener: ReturnType<typeof createServer>,
    private readonly target: { host: string; port: number },
    /** Whether to cut a connection, by the first bytes from its client. */
    private readonly selects: (firstBytes: Buffer) => boolean,
  ) {
    this.port = (listener.address() as AddressInfo).port;
    listener.on('connection', (client) => this.take(client));
  }

  static async to(host: string, port: number, selects: (firstBytes: Buffer) => boolean = () => true): Promise<CutLine> {
    const listener = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new CutLine(listener, { host, port }, selects);
  }

  cut(): void {
    this.isCut = true;
    for (const { client, server } of this.lines) {
      client.destroy();
      server.destroy();
    }
    for (const client of this.held) client.destroy();
    this.lines.clear();
    this.held.clear();
  }

  /** Closes its connections and its port, as a server that is down does. A client then knows that nothing was sent. */
  refuse(): void {
    this.cut();
    this.listener.close();
  }

  /** Forwards nothing more, but keeps the connections open. */
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
    if (!this.listener.listening) this.listener.listen(this.port, '127.0.0.1');
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.listener.listening) return;
    this.listener.close();
    await once(this.listener, 'close');
  }

  private take(client: Socket): void {
    client.on('error', () => client.destroy());
    client.once('data', (first: Buffer) => {
      client.pause();
      const isSelected = this.selects(first);
      if (isSelected && this.isCut) return void client.destroy();
      if (isSelected && this.isFrozen) return void this.held.add(client);
      const server = connect(this.target.port, this.target.host);
      server.on('error', () => client.destroy()).once('close', () => client.destroy());
      client.once('close', () => server.destroy());
      server.write(first);
      client.pipe(server).pipe(client);
      if (isSelected) this.lines.add({ client, server });
      return undefined;
    });
    client.resume();
  }
}

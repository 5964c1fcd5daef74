import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeSpans, type ExportedSpan } from '../otlp.ts';

/** An OpenTelemetry collector for tests. It receives OTLP over HTTP and keeps the spans. */
export class Collector {
  readonly spans: ExportedSpan[] = [];
  /** All bytes that arrived, as text, to search for secrets. */
  text = '';
  readonly headers: IncomingHttpHeaders[] = [];
  /** The exports in flight, and the most at one time. */
  private open = 0;
  mostOpen = 0;
  /** Milliseconds until an export is answered. */
  delayMs = 0;

  private readonly server: Server = createServer((request, response) => {
    this.mostOpen = Math.max(this.mostOpen, (this.open += 1));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.url === '/v1/traces') this.spans.push(...decodeSpans(body));
      this.text += body.toString('latin1');
      this.headers.push(request.headers);
      setTimeout(() => {
        this.open -= 1;
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      }, this.delayMs);
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.server.listen(0, '127.0.0.1');
    await once(collector.server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  ofTrace(traceId: string): ExportedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

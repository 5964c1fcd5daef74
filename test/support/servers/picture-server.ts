import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

/** Serves a picture on loopback, or leaves a request unanswered. */
export class PictureServer {
  /** How many requests are unanswered. */
  held = 0;
  private holding = false;
  private readonly server: Server = createServer(async (_request, response) => {
    if (this.holding) {
      this.holding = false;
      this.held += 1;
      return;
    }
    const red = { create: { width: 640, height: 360, channels: 3, background: 'red' } } as const;
    response.setHeader('content-type', 'image/png').end(await sharp(red).png().toBuffer());
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Leaves the next request unanswered; later ones get the picture. @returns the picture's URL */
  holdNext(): string {
    this.holding = true;
    this.held = 0;
    return this.url;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/frame.png`;
  }
}

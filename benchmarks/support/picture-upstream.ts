import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

/** An upstream on loopback with OpenAI's interface for images. It answers at once. */
export interface PictureUpstream {
  /** The base URL, which ends in /v1. */
  url: string;
  hookUrl: string;
  /** How many webhooks have arrived. */
  webhooks(): number;
  /** @returns the bytes of the picture that it answers with from now on */
  use(size: PictureSize): number;
  close(): void;
}

export type PictureSize = keyof typeof SIDES;

/**
 * Sides in pixels of square pictures with 4 bits of noise in each of 3 channels. Their PNGs have some 5 kB, 30 kB and
 * 1.5 MB.
 */
const SIDES = { '5 kB': 58, '30 kB': 140, '1.5 MB': 1000 } as const;
const MASK = 0x0f;
const HOOK = '/hook';

export async function startPictureUpstream(): Promise<PictureUpstream> {
  const pictures = Object.fromEntries(
    await Promise.all(Object.entries(SIDES).map(async ([name, side]) => [name, await noise(side)])),
  ) as Record<PictureSize, Buffer>;
  let answer = Buffer.alloc(0);
  let webhooks = 0;
  const server = createServer((request, reply) => {
    request.resume().on('end', () => {
      if (request.url === HOOK) {
        webhooks += 1;
        return void reply.writeHead(204).end();
      }
      reply.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/v1`,
    hookUrl: origin + HOOK,
    webhooks: () => webhooks,
    use(size) {
      const usage = { input_tokens: 12, output_tokens: 4160, total_tokens: 4172 };
      const data = [{ b64_json: pictures[size].toString('base64') }];
      answer = Buffer.from(JSON.stringify({ created: 1_800_000_000, data, usage }));
      return pictures[size].length;
    },
    close: () => server.close().closeAllConnections(),
  };
}

function noise(side: number): Promise<Buffer> {
  const pixels = randomFillSync(Buffer.alloc(side * side * 3)).map((value) => value & MASK);
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer();
}

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** What it does to the service behind it. */
export type Fault =
  /** Each stream of events breaks after its first bytes. */
  | 'cuts streams'
  | 'refuses streams'
  /** It delivers nothing of them but the head. */
  | 'buffers streams'
  /** The first creation arrives, its answer does not. */
  | 'loses the first answer';

export interface BadProxy {
  url: string;
  /** Requests that had the fault. */
  hit: () => number;
  close: () => Promise<void>;
}

export async function badProxy(target: string, fault: Fault): Promise<BadProxy> {
  let hit = 0;
  const server = createServer((incoming, outgoing) => {
    const isStream = incoming.url?.endsWith('/events') ?? false;
    const isFaulty = fault === 'loses the first answer' ? incoming.method === 'POST' && hit === 0 : isStream;
    if (isFaulty) hit += 1;
    if (isFaulty && fault === 'refuses streams') return void outgoing.writeHead(404).end('Not Found');
    const { method, headers } = incoming;
    const upstream = request(`${target}${incoming.url}`, { method, headers }, (answer) =>
      isFaulty ? spoil(fault, answer, outgoing) : forward(answer, outgoing),
    );
    upstream.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hit: () => hit,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode!, answer.headers);
  answer.pipe(outgoing);
}

function spoil(fault: Fault, answer: IncomingMessage, outgoing: ServerResponse): void {
  if (fault === 'loses the first answer') return void answer.resume().on('end', () => outgoing.destroy());
  outgoing.writeHead(answer.statusCode!, answer.headers);
  if (fault === 'cuts streams') answer.once('data', (chunk) => outgoing.write(chunk, () => outgoing.destroy()));
  else {
    outgoing.flushHeaders();
    answer.resume();
  }
}

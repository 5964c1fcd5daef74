import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CutLine } from '../support/faults/cut-line.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { paint } from '../support/stubs/media.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import type { RunRecord } from './run-record.ts';

const SLOW_MS = 1_500;

/** What the service calls: upstreams behind lines that can be cut, a webhook receiver, and a server of reference images. */
export class Surroundings {
  readonly ark = new ArkStub();
  readonly openai = new OpenaiStub();
  /** Accepted submits of films by seed, which the service derives from the task. */
  readonly filmsBySeed = new Map<number, number>();
  /** Accepted submits of pictures by prompt. Every create of the load has another prompt. */
  readonly picturesByPrompt = new Map<string, number>();
  upstreamLines: CutLine[] = [];
  receiverLine!: CutLine;
  picturesUrl = '';
  picture!: Buffer;
  private readonly servers: Server[] = [];

  constructor(private readonly record: RunRecord) {}

  async start(): Promise<void> {
    await Promise.all([this.ark.start(), this.openai.start()]);
    this.ark.real = true;
    this.ark.steps = { queued: 1, running: 4 };
    this.upstreamLines = [await lineTo(this.ark.origin), await lineTo(this.openai.origin)];
    this.receiverLine = await lineTo(await this.serve((request, response) => this.receive(request, response)));
    this.picture = await paint(640, 360, 3);
    this.picturesUrl = await this.serve((_request, response) => {
      response.setHeader('content-type', 'image/png').end(this.picture);
    });
  }

  get environment(): { [name: string]: string } {
    const [ark, openai] = this.upstreamLines;
    return {
      ARK_API_KEY: this.ark.key,
      ARK_BASE_URL: `http://127.0.0.1:${ark!.port}/api/v3`,
      OPENAI_API_KEY: this.openai.key,
      OPENAI_BASE_URL: `http://127.0.0.1:${openai!.port}/v1`,
    };
  }

  /** @param path `good`, `slow` or `failing`, and the tenant */
  hook(path: string): string {
    return `http://127.0.0.1:${this.receiverLine.port}/${path}`;
  }

  /** Counts the submits since the last call and forgets the requests, which hold their bodies. */
  tally(): void {
    for (const { request, body } of this.ark.answers.splice(0)) {
      if (request.method !== 'POST' || !('id' in body)) continue;
      add(this.filmsBySeed, Number(request.fields.seed));
    }
    for (const { request } of this.openai.answers.splice(0)) {
      if (request.method === 'POST') add(this.picturesByPrompt, String(request.fields.prompt));
    }
    this.ark.requests.splice(0);
    this.openai.requests.splice(0);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.upstreamLines, this.receiverLine].map((line) => line.close()));
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
    await Promise.all([this.ark.stop(), this.openai.stop()]);
  }

  private async serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    this.servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request
      .setEncoding('utf8')
      .on('error', () => undefined)
      .on('data', (chunk: string) => (body += chunk))
      .on('end', () => void this.answer(request.url ?? '', body, response));
  }

  private async answer(path: string, body: string, response: ServerResponse): Promise<void> {
    const kind = path.split('/')[1] ?? '';
    this.record.count(`webhook ${kind}`);
    if (kind === 'slow') await sleep(SLOW_MS);
    if (kind === 'failing') return void response.writeHead(500).end('no');
    const { id, data } = JSON.parse(body) as { id: string; data: { task_id: string } };
    if (kind === 'good') this.record.delivered(data.task_id, id);
    return void response.writeHead(200).end('ok');
  }
}

const lineTo = (origin: string): Promise<CutLine> => CutLine.to('127.0.0.1', Number(new URL(origin).port));

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

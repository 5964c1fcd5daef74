import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../wait.ts';

/** One webhook as it arrived. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: EventBody;
  /** Milliseconds on the monotonic clock. */
  at: number;
}

export interface EventBody {
  id: string;
  object: string;
  type: string;
  created_at: number;
  timestamp: string;
  data: { task_id: string; [field: string]: unknown };
}

type Answer = (received: Received, response: ServerResponse) => void | Promise<void>;

/** A customer's server. It records every webhook in order, and answers 200 unless the test sets another answer. */
export class Receiver {
  readonly received: Received[] = [];
  /** How many requests are in flight. */
  open = 0;
  /** The largest value of `open`. */
  mostOpen = 0;
  answer: Answer = (_received, response) => void response.writeHead(200).end('ok');

  private readonly server: Server = createServer((request, response) => void this.take(request, response));

  static async start(answer?: Answer): Promise<Receiver> {
    const receiver = new Receiver();
    if (answer) receiver.answer = answer;
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  get ids(): string[] {
    return this.received.map(({ headers }) => String(headers['webhook-id']));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Waits until at least `count` webhooks have arrived. @returns all of them */
  async until(count: number, withinMs?: number): Promise<Received[]> {
    const all = async () => this.received.length >= count && this.received;
    return eventually(`${count} webhooks (there are ${this.received.length})`, all, withinMs);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.on('close', () => (this.open -= 1));
    let body = '';
    request.setEncoding('utf8').on('error', () => undefined);
    for await (const chunk of request) body += chunk as string;
    const received = {
      path: request.url ?? '',
      headers: request.headers,
      body,
      event: JSON.parse(body),
      at: performance.now(),
    };
    this.received.push(received);
    await this.answer(received, response);
  }
}

/** @throws WebhookVerificationError unless one of the signatures was made with the secret */
export function verified({ body, headers }: Received, secret: string): EventBody {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as EventBody;
}

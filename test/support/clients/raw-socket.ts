import { WebSocket } from 'ws';
import { eventually } from '../wait.ts';

/** A bare graphql-ws connection that keeps every text it is told, the reason of its end among them. */
export class RawSocket {
  readonly texts: string[] = [];
  readonly closed: Promise<void>;
  private readonly socket: WebSocket;

  /** @param authorization goes into connection_init */
  constructor(baseUrl: string, authorization: string) {
    this.socket = new WebSocket(new URL('/graphql', baseUrl).href.replace('http', 'ws'), 'graphql-transport-ws');
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('error', () => undefined);
    this.socket.on('open', () => this.say({ type: 'connection_init', payload: { authorization } }));
    this.socket.on('message', (data: Buffer) => this.texts.push(data.toString()));
    this.socket.on('close', (code, reason) => this.texts.push(`${code} ${reason}`));
  }

  /** Sends an operation and waits for its first word. */
  async ask(id: string, query: string, variables: object = {}): Promise<void> {
    await this.heard('connection_ack', '"type":"connection_ack"');
    this.say({ id, type: 'subscribe', payload: { query, variables } });
    await this.heard(`a word on ${id}`, `"id":"${id}"`);
  }

  heard(what: string, text: string): Promise<true> {
    return eventually(what, async () => this.texts.some((one) => one.includes(text)));
  }

  close(): void {
    this.socket.close();
  }

  say(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }
}

import { WebSocket } from 'ws';
import { eventually } from '../wait.ts';

/**
 * A graphql-ws connection without a client library. It keeps every received text, and the close code with its reason.
 */
export class RawSocket {
  readonly texts: string[] = [];
  readonly closed: Promise<void>;
  private readonly socket: WebSocket;

  /** @param authorization the value that is sent in connection_init */
  constructor(baseUrl: string, authorization: string) {
    this.socket = new WebSocket(new URL('/graphql', baseUrl).href.replace('http', 'ws'), 'graphql-transport-ws');
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('error', () => undefined);
    this.socket.on('open', () => this.send({ type: 'connection_init', payload: { authorization } }));
    this.socket.on('message', (data: Buffer) => this.texts.push(data.toString()));
    this.socket.on('close', (code, reason) => this.texts.push(`${code} ${reason}`));
  }

  /** Sends an operation and waits for its first message. */
  async subscribe(id: string, query: string, variables: object = {}): Promise<void> {
    await this.received('connection_ack', '"type":"connection_ack"');
    this.send({ id, type: 'subscribe', payload: { query, variables } });
    await this.received(`a message for ${id}`, `"id":"${id}"`);
  }

  received(what: string, text: string): Promise<true> {
    return eventually(what, async () => this.texts.some((one) => one.includes(text)));
  }

  close(): void {
    this.socket.close();
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }
}

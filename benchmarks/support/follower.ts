import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from './until.ts';

/** Subscriptions that the service allows on one socket. */
export const PER_SOCKET = 50;

/**
 * Follows tasks of one API key over as few sockets as possible. It speaks the protocol directly, so that no client
 * library is measured.
 */
export class Follower {
  onFinal: (taskId: string) => void = () => undefined;
  /** The URL of the process to which it is connected. */
  readonly url: string;
  readonly key: string;
  private readonly sockets: WebSocket[];
  private currentStates = 0;
  private nextId = 0;
  private refusal: string | undefined;

  private constructor(url: string, key: string, sockets: WebSocket[]) {
    this.url = url;
    this.key = key;
    this.sockets = sockets;
    for (const socket of sockets) socket.on('message', (data: Buffer) => this.take(data.toString()));
  }

  static async open(url: string, key: string, subscriptions: number): Promise<Follower> {
    const opening = Array.from({ length: Math.ceil(subscriptions / PER_SOCKET) }, async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
      const [ack] = (await once(socket, 'message')) as [Buffer];
      if (!ack.includes('connection_ack')) throw new Error(`No ack: ${ack.toString()}`);
      return socket;
    });
    return new Follower(url, key, await Promise.all(opening));
  }

  /** Resolves when each subscription has received its current state. */
  async subscribe(taskIds: string[]): Promise<void> {
    this.currentStates = 0;
    for (const [at, taskId] of taskIds.entries()) {
      const query = `subscription { taskUpdated(taskId: "${taskId}") { taskId status progress completedAt } }`;
      const id = String((this.nextId += 1));
      this.sockets[at % this.sockets.length]!.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }));
    }
    await until(() => this.currentStates >= taskIds.length || this.refusal !== undefined, 60_000);
    if (this.refusal !== undefined) throw new Error(this.refusal);
    if (this.currentStates >= taskIds.length) return;
    throw new Error(`Only ${this.currentStates} of ${taskIds.length} current states arrived.`);
  }

  async close(): Promise<void> {
    const open = this.sockets.filter(({ readyState }) => readyState !== WebSocket.CLOSED);
    const closed = Promise.all(open.map((socket) => once(socket, 'close')));
    for (const socket of open) socket.close();
    await closed;
  }

  private take(message: string): void {
    const { type, payload } = JSON.parse(message) as {
      type: string;
      payload?: { data?: { taskUpdated: { taskId: string; status: string } } | null };
    };
    if (type === 'error' || (type === 'next' && !payload?.data)) this.refusal ??= message;
    if (type !== 'next' || !payload?.data) return;
    const { taskId, status } = payload.data.taskUpdated;
    if (status === 'FAILED') this.onFinal(taskId);
    else this.currentStates += 1;
  }
}

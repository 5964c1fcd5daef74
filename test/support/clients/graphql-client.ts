import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

export interface GraphqlErrorBody {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; type: string; param: string | null; request_id: string };
}
export interface GraphqlAnswer<Data> {
  status: number;
  headers: Headers;
  data: Data;
  errors?: GraphqlErrorBody[];
}

/** A client of `/graphql` with one API key. It uses HTTP, and for WebSocket the client of graphql-ws. */
export class GraphqlClient {
  private readonly open: Client[] = [];

  constructor(
    readonly baseUrl: string,
    readonly key: string | null,
  ) {}

  async ask<Data = Record<string, never>>(
    query: string,
    variables: object = {},
    headers: object = {},
  ): Promise<GraphqlAnswer<Data>> {
    const reply = await fetch(new URL('/graphql', this.baseUrl), {
      method: 'POST',
      headers: { ...this.authorization(), 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    return { status: reply.status, headers: reply.headers, ...((await reply.json()) as object) } as GraphqlAnswer<Data>;
  }

  socket(options: Partial<Parameters<typeof createClient>[0]> = {}): Client {
    const client = createClient({
      url: new URL('/graphql', this.baseUrl).href.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: this.authorization(),
      retryAttempts: 0,
      ...options,
    });
    this.open.push(client);
    return client;
  }

  /** Follows a subscription to its end. */
  follow<Data = Record<string, never>>(query: string, variables: Record<string, unknown> = {}, client = this.socket()) {
    return new Following<Data>(client, query, variables);
  }

  async close(): Promise<void> {
    await Promise.all(this.open.map((client) => client.dispose()));
  }

  authorization(): Record<string, string> {
    return this.key === null ? {} : { authorization: `Bearer ${this.key}` };
  }
}

/** The events that one subscription has received so far. */
export class Following<Data> {
  readonly events: { data?: Data | null; errors?: readonly GraphqlErrorBody[] }[] = [];
  /** Resolves when the subscription completes; rejects with its errors or with the close event. */
  readonly ended: Promise<void>;
  readonly stop: () => void;

  constructor(client: Client, query: string, variables: Record<string, unknown>) {
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    this.ended.catch(() => undefined);
    this.stop = client.subscribe<Data>(
      { query, variables },
      {
        next: (event) => void this.events.push(event as never),
        error: ended.reject,
        complete: ended.resolve,
      },
    );
  }

  get data(): Data[] {
    return this.events.map((event) => event.data as Data);
  }
}

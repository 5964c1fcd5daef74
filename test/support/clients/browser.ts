import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Answer } from './api.ts';
import { Api } from './api.ts';

/** A browser with a page of the service, or of the given origin. It keeps cookies and sends `Origin` as browsers do. */
export class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(
    readonly baseUrl: string,
    readonly origin: string = new URL(baseUrl).origin,
  ) {}

  async call<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answer<Body>> {
    const isOwn = this.origin === new URL(this.baseUrl).origin;
    const answer = await new Api(this.baseUrl, null).call<Body>(method, path, body, {
      ...(method === 'GET' && isOwn ? {} : { origin: this.origin }),
      ...(this.cookies.size > 0 ? { cookie: this.cookie } : {}),
      ...headers,
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';', 1)[0]!.split(/=(.*)/s);
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  signIn<Body = SessionBody>(by: object): Promise<Answer<Body>> {
    return this.call<Body>('POST', '/v1/session', by);
  }

  async ask<Data>(query: string, headers: object = {}) {
    const reply = await this.call<{ data: Data; errors?: { extensions: { code: string } }[] }>(
      'POST',
      '/graphql',
      { query },
      headers,
    );
    return { status: reply.status, ...reply.body };
  }

  /** A page of another origin, with the cookies of this browser. */
  withOrigin(origin: string): Browser {
    const other = new Browser(this.baseUrl, origin);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    return other;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Opens a socket. Resolves with the status of the answer to the upgrade: 101 if it was accepted. */
  upgradeStatus(): Promise<number | undefined> {
    const { origin, cookie } = this;
    const url = new URL('/graphql', this.baseUrl).href.replace('http', 'ws');
    const socket = new WebSocket(url, 'graphql-transport-ws', { origin, headers: { cookie } });
    return new Promise((resolve, reject) => {
      socket.on('unexpected-response', (request, { statusCode }) => {
        request.destroy();
        resolve(statusCode);
      });
      socket.on('open', () => {
        socket.close();
        resolve(101);
      });
      socket.on('error', reject);
    });
  }

  /** Opens a socket. Resolves with its close code. `onOpen` is called once the socket was accepted. */
  socketUntilClosed(onOpen: () => void): Promise<number> {
    const { origin, cookie } = this;
    class Socket extends WebSocket {
      constructor(url: string, protocols: string | string[]) {
        super(url, protocols, { origin, headers: { cookie } });
      }
    }
    return new Promise((resolve) => {
      const url = new URL('/graphql', this.baseUrl).href.replace('http', 'ws');
      createClient({
        url,
        webSocketImpl: Socket,
        lazy: false,
        retryAttempts: 0,
        onNonLazyError: () => undefined,
        on: { connected: onOpen, closed: (event) => resolve((event as { code: number }).code) },
      });
    });
  }
}

export interface SessionBody {
  id: string;
  object: string;
  expires_at: number;
  api_key: { id: string; name: string; scopes: string[] };
  error: { code: string; message: string };
}

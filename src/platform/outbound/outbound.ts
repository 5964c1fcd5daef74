import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.ts';
import { ApiError } from '../../errors/api-error.ts';
import { connectTo } from './connect.ts';
import { checkedAddresses } from './checked-addresses.ts';
import { type Answer, Connection, connectionKey, exchange, type Exchange } from './exchange.ts';
import { NameResolver } from './name-resolver.ts';
import { OutboundError } from './outbound-error.ts';
import { isExcepted } from './public-address.ts';
import { redirectOf } from './redirect.ts';
import { checkOutboundUrl } from './url-rules.ts';
import { userAgent, WEBHOOK_AGENT } from './user-agent.ts';
import { withTimeout } from './with-timeout.ts';

/** Maximum number of idle connections, for all keys of connections together. */
const MAX_IDLE = 200;
/** Older connections are closed after their request: the server behind the address may have been replaced. */
const MAX_AGE_MS = 60_000;

/** Connections whose answer was read completely. Each is kept for a second, for another request with the same key. */
class IdleConnections {
  private readonly idle = new Map<string, Set<Connection>>();
  private count = 0;

  take(key: string): Connection | undefined {
    const [connection] = this.idle.get(key) ?? [];
    if (connection) this.remove(connection);
    return connection;
  }

  keep(connection: Connection): void {
    const isOld = performance.now() - connection.openedAt > MAX_AGE_MS;
    if (!connection.isOpen || isOld || this.count >= MAX_IDLE) return connection.close();
    const sameKey = this.idle.get(connection.key) ?? new Set();
    this.idle.set(connection.key, sameKey.add(connection));
    this.count += 1;
    connection.isReused = true;
    connection.onClose = () => this.remove(connection);
  }

  close(): void {
    for (const connections of this.idle.values()) for (const connection of connections) connection.close();
  }

  private remove(connection: Connection): void {
    const sameKey = this.idle.get(connection.key);
    if (!sameKey?.delete(connection)) return;
    this.count -= 1;
    if (sameKey.size === 0) this.idle.delete(connection.key);
  }
}

/** DNS, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5000;

const PURPOSES = {
  webhook: { https: true, tooLarge: 'truncate', keepsConnection: true, userAgent: WEBHOOK_AGENT },
  image: { https: false, tooLarge: 'fail', keepsConnection: false, userAgent: userAgent('reference images') },
} as const;

export interface OutboundRequest {
  /**
   * - `webhook`: only https, unless the operator allows http. An answer over the limit is truncated.
   * - `image`: https or http. An answer over the limit is an error.
   */
  purpose: keyof typeof PURPOSES;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** From the call to the last byte of the answer, redirects included. */
  timeoutMs: number;
  /** Bytes of the body. `purpose` decides what happens to a longer body. */
  maxResponseBytes: number;
  /** Only for GET. When absent, a redirect is returned like any other answer. */
  maxRedirects?: number;
  /** Aborts early; its reason is then thrown unchanged. */
  signal?: AbortSignal;
  /**
   * A new file for the body of a 2xx answer; then `body` is empty. Only for images, because their `tooLarge` is `fail`.
   */
  saveTo?: string;
  /** Called once the head of the answer has arrived. */
  onHead?: Exchange['onHead'];
}

export interface OutboundAnswer extends Answer {
  /** The URL that answered, after redirects. */
  url: string;
  /**
   * Whether the answer came from an address that only the operator's exceptions allow, perhaps a private one. Show
   * clients nothing of such an answer.
   */
  isExcepted: boolean;
}

/**
 * Calls addresses that clients chose, but only public ones or those that the operator has excepted. For each request
 * and each redirect, the URL, every DNS answer and the connected socket are checked. Uses no proxy and no cookies. A
 * webhook may reuse the connection of an earlier webhook, if the name still resolves to the connection's address.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly idle = new IdleConnections();

  constructor(
    private readonly config: Config,
    private readonly names: NameResolver,
  ) {}

  /**
   * @returns the answer, whatever its status
   * @throws OutboundError, see its kinds; the reason of `signal`
   */
  async request(url: string, options: OutboundRequest): Promise<OutboundAnswer> {
    const { maxRedirects = 0, timeoutMs } = options;
    return withTimeout(timeoutMs, options.signal, async (signal) => {
      let target = this.checkedUrl(url, options);
      for (let redirects = 0; ; redirects++) {
        const answer = await this.call(target, redirects === 0 ? options : { ...options, headers: {} }, signal);
        const location = redirectOf(answer.status, answer.headers);
        if (maxRedirects === 0 || options.method !== 'GET' || location === null) return { ...answer, url: target.href };
        if (redirects === maxRedirects) throw new OutboundError('redirect_loop', `more than ${maxRedirects} redirects`);
        target = this.checkedUrl(URL.parse(location, target.href)?.href ?? '', options);
      }
    });
  }

  onApplicationShutdown(): void {
    this.idle.close();
  }

  private checkedUrl(url: string, { purpose }: OutboundRequest): URL {
    try {
      return checkOutboundUrl(url, this.config, PURPOSES[purpose]);
    } catch (error) {
      if (error instanceof ApiError) throw new OutboundError('blocked_address', error.message, error);
      throw error;
    }
  }

  private async call(url: URL, options: OutboundRequest, signal: AbortSignal): Promise<Omit<OutboundAnswer, 'url'>> {
    const { userAgent, ...purpose } = PURPOSES[options.purpose];
    const headers = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...options.headers };
    let isAnswered = false;
    const onHead: Exchange['onHead'] = (head) => {
      isAnswered = true;
      options.onHead?.(head);
    };
    const request = { ...options, ...purpose, headers, onHead };

    const connection = await this.connect(url, signal, purpose.keepsConnection);
    try {
      return await this.exchange(connection, url, request, signal);
    } catch (error) {
      const isBroken = error instanceof OutboundError && error.kind === 'connect_failed' && !isAnswered;
      if (!isBroken || !connection.isReused) throw error;
      // The server closed the connection while the request was sent, most likely before it read the request. So the
      // request is sent again on a new connection. If a webhook arrives twice, its receiver sees the same id twice.
      return await this.exchange(await this.connect(url, signal, false), url, request, signal);
    }
  }

  private async exchange(
    ...[connection, ...rest]: Parameters<typeof exchange>
  ): Promise<Answer & Pick<OutboundAnswer, 'isExcepted'>> {
    const answer = await exchange(connection, ...rest);
    this.idle.keep(connection);
    return { ...answer, isExcepted: isExcepted(connection.address, this.config.outboundAllowCidrs) };
  }

  private async connect(url: URL, signal: AbortSignal, mayReuse: boolean): Promise<Connection> {
    return withTimeout(CONNECT_TIMEOUT_MS, signal, async (connecting) => {
      const addresses = await checkedAddresses(url, this.config, this.names);
      for (const address of mayReuse ? addresses : []) {
        const idle = this.idle.take(connectionKey(url.origin, address));
        if (idle) return idle;
      }
      return new Connection(await connectTo(url, addresses, this.config, connecting), url);
    });
  }
}

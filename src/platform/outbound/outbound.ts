import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config.ts';
import { ApiError } from '../../errors/api-error.ts';
import { connectTo } from './connect.ts';
import { Connection, placeOf } from './connection.ts';
import { exchange, type Answer, type Exchange } from './exchange.ts';
import { KeptConnections } from './kept-connections.ts';
import { NameResolver } from './name-resolver.ts';
import { OutboundError } from './outbound-error.ts';
import { checkOutboundUrl, knownAddresses, refusedAddress } from './url-rules.ts';
import { userAgent } from './user-agent.ts';
import { withTimeout } from './with-timeout.ts';

/** DNS, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5000;

const PURPOSES = {
  webhook: { https: true, tooLarge: 'truncate', keepsConnection: true, userAgent: userAgent('webhooks') },
  image: { https: false, tooLarge: 'fail', keepsConnection: false, userAgent: userAgent('reference images') },
} as const;

export interface OutboundRequest {
  /** `webhook`: https, a long answer is cut. `image`: http too, a long answer is an error. */
  purpose: keyof typeof PURPOSES;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** From here to the last byte of the answer, redirects included. */
  timeoutMs: number;
  /** 0 for a webhook: only the status is waited for. */
  maxResponseBytes: number;
  /** Only for GET; without it a redirect is an answer like any other. */
  maxRedirects?: number;
  /** Aborts early; its reason is then thrown as it is. */
  signal?: AbortSignal;
  /** See `Exchange`. */
  onHead?: Exchange['onHead'];
}

export interface OutboundAnswer extends Answer {
  /** Where the answer came from, after redirects. */
  url: string;
}

/**
 * Calls addresses that clients gave us, and only public ones (or those the operator has excepted): the URL, every answer
 * of DNS and the connected socket are checked, for every request and every redirect anew. No proxy, no cookies. A webhook may
 * use the connection of one just before it, if that leads to an address which the name means now.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly kept = new KeptConnections();

  constructor(
    private readonly config: Config,
    private readonly names: NameResolver,
  ) {}

  /**
   * @returns the answer, whatever its status
   * @throws OutboundError by kind, see there; the reason of `signal`
   */
  async request(url: string, options: OutboundRequest): Promise<OutboundAnswer> {
    const { maxRedirects = 0, timeoutMs } = options;
    return withTimeout(timeoutMs, options.signal, async (signal) => {
      let place = this.checked(url, options);
      for (let redirects = 0; ; redirects++) {
        const answer = await this.call(place, redirects === 0 ? options : { ...options, headers: {} }, signal);
        const location = redirectOf(answer);
        if (maxRedirects === 0 || options.method !== 'GET' || location === null) return { ...answer, url: place.href };
        if (redirects === maxRedirects) throw new OutboundError('redirect_loop', `more than ${maxRedirects} redirects`);
        place = this.checked(URL.parse(location, place.href)?.href ?? '', options);
      }
    });
  }

  onApplicationShutdown(): void {
    this.kept.close();
  }

  private checked(url: string, { purpose }: OutboundRequest): URL {
    try {
      return checkOutboundUrl(url, this.config, PURPOSES[purpose]);
    } catch (error) {
      if (error instanceof ApiError) throw new OutboundError('blocked_address', error.message, error);
      throw error;
    }
  }

  private async call(url: URL, options: OutboundRequest, signal: AbortSignal): Promise<Answer> {
    const { userAgent, ...purpose } = PURPOSES[options.purpose];
    const headers = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...options.headers };
    let isAnswered = false;
    const onHead: Exchange['onHead'] = (head) => {
      isAnswered = true;
      options.onHead?.(head);
    };
    const wanted = { ...options, ...purpose, headers, onHead };

    const connection = await this.connect(url, signal, purpose.keepsConnection);
    try {
      return await this.exchange(connection, url, wanted, signal);
    } catch (error) {
      const isBroken = error instanceof OutboundError && error.kind === 'connect_failed' && !isAnswered;
      if (!isBroken || !connection.wasKept) throw error;
      // Its server closed it just then, most likely before it read the request. Who got a webhook twice knows it by its id.
      return await this.exchange(await this.connect(url, signal, false), url, wanted, signal);
    }
  }

  private async exchange(...[connection, ...wanted]: Parameters<typeof exchange>): Promise<Answer> {
    const answer = await exchange(connection, ...wanted);
    this.kept.keep(connection);
    return answer;
  }

  private async connect(url: URL, signal: AbortSignal, mayBeKept: boolean): Promise<Connection> {
    return withTimeout(CONNECT_TIMEOUT_MS, signal, async (connecting) => {
      const addresses = await this.addressesOf(url);
      for (const address of mayBeKept ? addresses : []) {
        const kept = this.kept.take(placeOf(url.origin, address));
        if (kept) return kept;
      }
      return new Connection(await connectTo(url, addresses, this.config, connecting), url);
    });
  }

  /** @throws OutboundError dns_failure, blocked_address */
  private async addressesOf(url: URL): Promise<string[]> {
    const refused = (ip: string) => refusedAddress([ip], url, this.config) !== undefined;
    const known = knownAddresses(url);
    // Of the two loopback addresses, an operator may have excepted only one.
    const addresses = known?.filter((ip) => !refused(ip)) ?? (await this.names.resolve(url.hostname));
    if (addresses.length === 0 || addresses.some(refused)) {
      throw new OutboundError('blocked_address', 'the name leads to an address that may not be called');
    }
    return addresses;
  }
}

function redirectOf({ status, headers }: Answer): string | null {
  const { location } = headers;
  return [301, 302, 303, 307, 308].includes(status) && typeof location === 'string' ? location : null;
}

import type { Socket } from 'node:net';
import { buildConnector, Client } from 'undici';

/** For a fresh connection: DNS, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;

/** No timeouts here, because the caller's signal limits the time. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/** Connects to the operator's own upstreams, whose addresses are not checked. */
export const upstreamConnector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });

/** HTTP/1.1 over a socket that is open and checked. The client never opens another socket. */
export function clientOnSocket(origin: string, socket: Socket, options: Client.Options = {}): Client {
  let unused: Socket | null = socket;
  return new Client(origin, {
    ...NO_TIMEOUTS,
    ...options,
    connect: (_options, done) => {
      const given = unused;
      unused = null;
      // Deferred: the client would miss an answer that arrives while the client is still requesting the socket.
      queueMicrotask(() => (given ? done(null, given) : done(new Error('the connection is used up'), null)));
    },
  });
}

/**
 * Opens a fresh connection for one paid request. If the upstream closed a kept connection while the request was sent,
 * it would be unknown whether the upstream has read the request. A handshake costs little beside seconds or minutes of
 * generation.
 * @param onOpen called once the connection is open: from then on the upstream may have received the request
 */
export function clientOnFreshConnection(origin: string, onOpen: () => void): Client {
  return new Client(origin, {
    ...NO_TIMEOUTS,
    pipelining: 0,
    connect: (options, done) => {
      upstreamConnector(options, (...[error, socket]) => {
        if (error) return done(error, null);
        onOpen();
        done(null, socket);
      });
    },
  });
}

import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { OutboundError } from './outbound-error.ts';
import { refusedAddress, type OutboundRules } from './url-rules.ts';

/** If a name has more addresses, only the first ones are tried. */
const MAX_ADDRESSES = 8;

/**
 * After this time without a connection, the next address is tried in parallel. RFC 8305 says 250 ms; distant servers
 * need more.
 */
const NEXT_ADDRESS_MS = 500;

/**
 * Connects to one of these addresses. The caller has checked all of them. The socket's real peer address is checked
 * again before any byte is sent, the TLS handshake included.
 * @throws OutboundError blocked_address, connect_failed, tls_error; the reason of the signal
 */
export async function connectTo(
  url: URL,
  addresses: readonly string[],
  rules: OutboundRules,
  signal: AbortSignal,
): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'https:';
  const checked = addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, checked) : done(null, checked[0].address, checked[0].family);

  const socket = connectTcp({
    host: checked.length === 1 ? checked[0].address : host,
    port: Number(url.port) || (secure ? 443 : 80),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  });
  await opened(socket, 'connect', 'connect_failed', signal);
  const { remoteAddress } = socket;
  if (!remoteAddress || refusedAddress([remoteAddress], url, rules) !== undefined) {
    socket.destroy();
    throw new OutboundError('blocked_address', 'the connection ended at an address that may not be called');
  }
  if (!secure) return socket;

  const name = host.replace(/\.$/, '');
  const session = connectTls({
    socket,
    host: name, // the certificate must name this host
    servername: isIP(name) === 0 ? name : '', // SNI carries names only (RFC 6066)
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // overrides NODE_TLS_REJECT_UNAUTHORIZED
  });
  await opened(session, 'secureConnect', 'tls_error', signal);
  return session;
}

/** Waits until the socket is ready. Destroys the socket if it does not become ready. */
async function opened(
  socket: Socket,
  ready: 'connect' | 'secureConnect',
  failure: 'connect_failed' | 'tls_error',
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (cause?: Error) => reject(new OutboundError(failure, 'no connection', cause));
  const abort = () => reject(signal.reason);
  socket.once(ready, resolve).on('error', fail).once('close', fail);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.off('close', fail); // the error listener stays: an unhandled error event would end the process
  }
}

import { createWriteStream, writeFile } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Client, Dispatcher } from 'undici';
import { bytesOfDataUrl, isDataUrl } from '../../platform/images/data-url.ts';
import { checkedAddresses } from '../../platform/outbound/checked-addresses.ts';
import { clientOnSocket } from '../../platform/outbound/client.ts';
import { connectTo } from '../../platform/outbound/connect.ts';
import { NameResolver } from '../../platform/outbound/name-resolver.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { redirectOf } from '../../platform/outbound/redirect.ts';
import { knownAddresses, type OutboundRules } from '../../platform/outbound/url-rules.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { pause } from './pause.ts';
import { ProviderError } from '../contract/provider.ts';
import { callingFor, measuredCall } from './call-metrics.ts';
import { networkCause, operatorCause } from './operator-cause.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** A connection without a byte for this long counts as broken. */
const IDLE_TIMEOUT_MS = 60_000;

const MAX_REDIRECTS = 3;

/**
 * Eight tries take some three minutes: the pauses double from 5 s to 30 s. The result is paid for, but each try takes a
 * slot of a worker.
 */
const MAX_TRIES = 8;
const MAX_RETRY_MS = 30_000;

/** The most times that a dead link is replaced by a new one. */
const MAX_RENEWALS = 2;

/** The largest accepted result, in bytes: a 4K PNG has up to 60 MB, 20 s of 4K video some 250 MB. */
export const MAX_RESULT_BYTES = { image: 128 * 1024 * 1024, video: 2 * 1024 * 1024 * 1024 } as const;

export interface Download {
  /** The name of the provider, for the operator's log. */
  provider: string;
  /** http(s), a path at the upstream, or a data: URL. */
  url: string;
  path: string;
  maxBytes: number;
  /** The address of the upstream. Results may be stored there even if it is not public. */
  baseUrl: string;
  /** Headers that are sent only to the origin of the upstream, and not to another origin to which it redirects. */
  headers?: Record<string, string>;
  /** Whether the link, or a redirect of it, may be followed. Missing: to any public address. */
  mayLead?: ((url: URL) => boolean) | undefined;
  /** The pause before the second try. It doubles with each try. */
  retryMs: number;
  /** The most tries. Missing: 8. */
  tries?: number;
  signal: AbortSignal;
  /**
   * Gets a new link from the upstream when this one is dead. A link is dead if it answers with an error status that is
   * not temporary, such as 403, 404 or 410.
   */
  renew?: () => Promise<string>;
}

/** A temporary failure: another try may succeed. */
class Broken extends Error {}

/** The link does not return the result, or no longer does. */
class DeadLink extends Error {
  constructor(readonly status: number) {
    super(`the result's link answered ${status}`);
  }
}

const names = new NameResolver();

/**
 * Downloads a result, with a bounded number of retries. A failed download never leads to a new generation. The URL is
 * text of the upstream, so it is checked like a URL of a client: http(s), and a public address unless it is the
 * upstream's own.
 * @throws ProviderError provider_unavailable after the last try, result_storage_failed when the disk of this service
 *   fails, internal_error for a dead link, a refused address or a file that is too large
 * @throws the reason of the signal
 */
export async function download(options: Download): Promise<{ path: string }> {
  const { provider, path, retryMs, tries: maxTries = MAX_TRIES, signal, renew } = options;
  let { url } = options;
  if (isDataUrl(url)) return saveDataUrl(options);
  for (let tries = 1, renewals = 0; ;) {
    try {
      await attempt(url, options);
      return { path };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof DeadLink && renew && renewals < MAX_RENEWALS) {
        renewals += 1;
        await pause(retryMs, signal);
        url = await renew();
        continue;
      }
      if (error instanceof ProviderError) throw error;
      if (!(error instanceof Broken)) {
        const status = error instanceof DeadLink ? { status: error.status } : {};
        const cause = operatorCause(provider, null, { ...status, message: (error as Error).message });
        throw new ProviderError('internal_error', { cause });
      }
      if (tries === maxTries) {
        throw new ProviderError('provider_unavailable', { cause: networkCause(provider, error.cause ?? error) });
      }
      await pause(Math.min(retryMs * 2 ** (tries - 1), MAX_RETRY_MS), signal);
      tries += 1;
    }
  }
}

/** Saves a result that a data: URL contains. */
async function saveDataUrl({ provider, url, path, maxBytes }: Download): Promise<{ path: string }> {
  const bytes = bytesOfDataUrl(url);
  if (!bytes || bytes.length > maxBytes) {
    const message = bytes ? `the result is larger than ${maxBytes} bytes` : 'the data: URL of the result has no base64';
    throw new ProviderError('internal_error', { cause: operatorCause(provider, null, { message }) });
  }
  try {
    // The one of node:fs/promises writes 512 KiB at a time, and between them other answers would be parsed.
    await promisify(writeFile)(path, bytes, { mode: 0o600 });
  } catch (cause) {
    throw new ProviderError('result_storage_failed', { cause });
  }
  return { path };
}

async function attempt(url: string, options: Download): Promise<void> {
  const { signal, baseUrl, path, maxBytes, mayLead = () => true } = options;
  const rules = { outboundAllowCidrs: await ownAddresses(baseUrl), outboundAllowHttp: true };
  let target = checkedUrl(url, `${baseUrl}/`);
  let headers = target.origin === new URL(baseUrl).origin ? (options.headers ?? {}) : {};
  for (let redirects = 0; ; redirects++) {
    if (!mayLead(target)) throw new OutboundError('blocked_address', "the result's link leads to another host");
    const fetched = { headers, rules, maxBytes, signal };
    const location = await callingFor('result', () => fetchTo(path, target, fetched));
    if (location === null) return;
    if (redirects === MAX_REDIRECTS) throw new Error(`the result's link redirects more than ${MAX_REDIRECTS} times`);
    const next = checkedUrl(location, target.href);
    if (next.origin !== target.origin) headers = {};
    target = next;
  }
}

/** @returns the location of a redirect; null when the file is written */
async function fetchTo(
  path: string,
  url: URL,
  o: { headers: Record<string, string>; rules: OutboundRules; maxBytes: number; signal: AbortSignal },
): Promise<string | null> {
  const { headers, signal } = o;
  return measuredCall({ url, method: 'GET', signal }, async (answered) => {
    const client = await connected(url, o.rules, signal);
    try {
      const { statusCode, body, ...reply } = await client
        .request({ method: 'GET', path: url.pathname + url.search, headers, signal, reset: true })
        .catch(broken);
      answered(statusCode);
      body.on('error', () => undefined); // an unread body emits an error
      const location = redirectOf(statusCode, reply.headers);
      if (location !== null) return location;
      if (statusCode !== 200) throw refusal(statusCode);
      await write(body, path, o);
      return null;
    } finally {
      void client.destroy();
    }
  });
}

function refusal(status: number): Error {
  return [408, 425, 429].includes(status) || status >= 500
    ? new Broken(`the result's link answered ${status}`)
    : new DeadLink(status);
}

async function write(
  body: Dispatcher.ResponseData['body'],
  path: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<void> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new TooLarge(`the result is larger than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(body, counted, createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || syscall === 'write') throw new ProviderError('result_storage_failed', { cause: error });
    throw broken(error);
  }
}

class TooLarge extends Error {}

async function connected(url: URL, rules: OutboundRules, signal: AbortSignal): Promise<Client> {
  try {
    const addresses = await checkedAddresses(url, rules, names);
    const socket = await withTimeout(CONNECT_TIMEOUT_MS, signal, (signal) => connectTo(url, addresses, rules, signal));
    return clientOnSocket(url.origin, socket, { headersTimeout: IDLE_TIMEOUT_MS, bodyTimeout: IDLE_TIMEOUT_MS });
  } catch (error) {
    if (signal.aborted || (error instanceof OutboundError && error.kind === 'blocked_address')) throw error;
    return broken(error);
  }
}

/**
 * The upstream's own addresses, as networks of one address each. Results may be stored there, even if the addresses are
 * not public.
 */
async function ownAddresses(baseUrl: string): Promise<string[]> {
  const base = new URL(baseUrl);
  const addresses = knownAddresses(base) ?? (await names.resolve(base.hostname).catch(() => []));
  return addresses.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`);
}

/** @param base the base of a link without scheme and host, because some servers name a result by its path */
function checkedUrl(text: string, base: string): URL {
  const url = URL.parse(text) ?? URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new OutboundError('blocked_address', "the result's link is no http(s) URL");
  }
  return url;
}

function broken(error: unknown): never {
  throw new Broken('the result could not be fetched', { cause: error });
}

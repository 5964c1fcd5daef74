import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client, type Dispatcher } from 'undici';
import { connectTo } from '../../platform/outbound/connect.ts';
import { NameResolver } from '../../platform/outbound/name-resolver.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { knownAddresses, refusedAddress, type OutboundRules } from '../../platform/outbound/url-rules.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { ProviderError } from '../provider.ts';
import { networkCause, operatorCause } from './operator-cause.ts';
import { pause } from '../jobs/pause.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Without a byte for so long, the connection counts as broken. */
const IDLE_TIMEOUT_MS = 60_000;

const MAX_REDIRECTS = 3;

/** Eight tries at 5 s doubling to 30 s are some three minutes: the result is paid for, but a worker's place is dear too. */
const MAX_TRIES = 8;
const MAX_RETRY_MS = 30_000;

/** How often a link that is dead is asked for anew. */
const MAX_RENEWALS = 2;

/** Largest result taken, in bytes: a 4K PNG has up to 60 MB, 20 s of 4K video some 250 MB. */
export const MAX_RESULT_BYTES = { image: 128 * 1024 * 1024, video: 2 * 1024 * 1024 * 1024 } as const;

export interface Download {
  /** For the operator's log. */
  provider: string;
  url: string;
  /** The file that is written. */
  path: string;
  maxBytes: number;
  /** Where the upstream itself stands: results may lie at its own address even if that is not a public one. */
  baseUrl: string;
  /** Sent to the URL's origin only, not to where it redirects. */
  headers?: Record<string, string>;
  /** Before the second try; doubles from try to try. */
  retryMs: number;
  signal: AbortSignal;
  /** Asks the upstream for a fresh link when this one is dead (403, 404, 410). */
  renew?: () => Promise<string>;
}

/** Another try may help. */
class Broken extends Error {}

/** This link gives nothing (any more). */
class DeadLink extends Error {
  constructor(readonly status: number) {
    super(`the result's link answered ${status}`);
  }
}

const names = new NameResolver();

/**
 * Brings a result home, with as many tries as it takes within bounds: nothing is ever generated anew for it. A result URL is
 * the upstream's word, so it is checked like a client's: http(s), and a public address unless it is the upstream's own.
 * @throws ProviderError provider_unavailable when the tries are used up, result_storage_failed when our disk does not take it,
 *   internal_error for a dead link, a refused address and a file too large
 * @throws the reason of the signal
 */
export async function download(wanted: Download): Promise<{ path: string }> {
  const { provider, path, retryMs, signal, renew } = wanted;
  let { url } = wanted;
  for (let tries = 1, renewals = 0; ;) {
    try {
      await attempt(url, wanted);
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
      if (tries === MAX_TRIES) {
        throw new ProviderError('provider_unavailable', { cause: networkCause(provider, error.cause ?? error) });
      }
      await pause(Math.min(retryMs * 2 ** (tries - 1), MAX_RETRY_MS), signal);
      tries += 1;
    }
  }
}

async function attempt(url: string, wanted: Download): Promise<void> {
  const { signal, baseUrl, path, maxBytes } = wanted;
  const rules = { outboundAllowCidrs: await ownAddresses(baseUrl), outboundAllowHttp: true };
  let place = checked(url);
  let headers = wanted.headers ?? {};
  for (let redirects = 0; ; redirects++) {
    const next = await fetchTo(path, place, { headers, rules, maxBytes, signal });
    if (next === null) return;
    if (redirects === MAX_REDIRECTS) throw new Error(`the result's link redirects more than ${MAX_REDIRECTS} times`);
    const target = checked(URL.parse(next, place.href)?.href ?? '');
    if (target.origin !== place.origin) headers = {};
    place = target;
  }
}

/** @returns where it redirects to; null when the file is written */
async function fetchTo(
  path: string,
  url: URL,
  o: { headers: Record<string, string>; rules: OutboundRules; maxBytes: number; signal: AbortSignal },
): Promise<string | null> {
  const client = await connected(url, o.rules, o.signal);
  try {
    const { headers, signal } = o;
    const { statusCode, body, ...reply } = await client
      .request({ method: 'GET', path: url.pathname + url.search, headers, signal, reset: true })
      .catch(broken);
    body.on('error', () => undefined); // left unread, it reports that
    const { location } = reply.headers;
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') return location;
    if (statusCode !== 200) throw refusal(statusCode);
    await write(body, path, o);
    return null;
  } finally {
    void client.destroy();
  }
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

/** A client whose only connection is to an address that was checked. */
async function connected(url: URL, rules: OutboundRules, signal: AbortSignal): Promise<Client> {
  const addresses = await addressesOf(url, rules);
  const socket = await withTimeout(CONNECT_TIMEOUT_MS, signal, (signal) =>
    connectTo(url, addresses, rules, signal),
  ).catch((error: unknown) => {
    if (signal.aborted || (error instanceof OutboundError && error.kind === 'blocked_address')) throw error;
    return broken(error);
  });
  let unused = true;
  return new Client(url.origin, {
    connect: (_options, done) => {
      const given = unused ? socket : null;
      unused = false;
      // Not at once: the client would miss an answer given while it is still asking.
      queueMicrotask(() => (given ? done(null, given) : done(new Error('the connection is used up'), null)));
    },
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
  });
}

async function addressesOf(url: URL, rules: OutboundRules): Promise<string[]> {
  const refused = (ip: string) => refusedAddress([ip], url, rules) !== undefined;
  // Of the two loopback addresses, the upstream may have only one.
  const known = knownAddresses(url)?.filter((ip) => !refused(ip));
  const addresses = known ?? (await names.resolve(url.hostname).catch(broken));
  if (addresses.length === 0 || addresses.some(refused)) {
    throw new OutboundError('blocked_address', 'the result lies at an address that may not be called');
  }
  return addresses;
}

/** As networks of one address each, which are excepted from the rule that only public addresses are called. */
async function ownAddresses(baseUrl: string): Promise<string[]> {
  const base = new URL(baseUrl);
  const addresses = knownAddresses(base) ?? (await names.resolve(base.hostname).catch(() => []));
  return addresses.map((ip) => `${ip}/${ip.includes(':') ? 128 : 32}`);
}

function checked(url: string): URL {
  const place = URL.parse(url);
  if (!place || !/^https?:$/.test(place.protocol) || place.username !== '' || place.password !== '') {
    throw new OutboundError('blocked_address', "the result's link is no http(s) URL");
  }
  return place;
}

function broken(error: unknown): never {
  throw new Broken('the result could not be fetched', { cause: error });
}

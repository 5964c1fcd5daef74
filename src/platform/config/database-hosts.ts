/** One server that a database URL names. */
export interface DatabaseHost {
  /** The host, perhaps with a port, for messages. Contains no password. */
  name: string;
  /** The database URL with this server alone. */
  url: string;
  /** `url` without encryption, if the given `sslmode` is `prefer` or `allow`. */
  plainUrl?: string;
}

/** The servers that DATABASE_URL or DATABASE_DIRECT_URL names. */
export interface DatabaseHosts {
  hosts: readonly [DatabaseHost, ...DatabaseHost[]];
  /** Whether to connect only to the server that takes writes: true if the given URL has `target_session_attrs`. */
  isPrimaryWanted: boolean;
}

const MAX_HOSTS = 8;
const MAX_PORT = 65_535;
const DEFAULT_PORT = 5432;
const ATTRIBUTE = 'target_session_attrs';
const MAX_CONNECT_TIMEOUT_S = 600;

/** The groups: scheme, credentials with their @, hosts, the rest. A password may contain a comma or an @. */
const DATABASE_URL = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s;
/** A host in brackets (IPv6) or without a colon, then perhaps a colon and a port. */
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d+))?$/i;

/**
 * Reads the servers that a database URL names.
 * @throws Error whose message begins with "must" and does not contain the password
 */
export function hostsOf(url: string): DatabaseHosts {
  const [, scheme, credentials, listed, rest] = DATABASE_URL.exec(url) ?? [];
  if (listed === undefined) throw new Error('must be an address starting with postgres:// or postgresql://');
  const [path, query] = splitAt(rest!, '?');
  const parameters = new URLSearchParams(query);
  const attributes = parameters.getAll(ATTRIBUTE);
  for (const attribute of attributes) {
    if (attribute === 'read-write' || attribute === 'primary') continue;
    throw new Error(`must have ${ATTRIBUTE}=read-write, not "${attribute}": the service writes on every connection`);
  }
  const isPrimaryWanted = attributes.length > 0;
  if (!isPrimaryWanted && !listed.includes(',')) return { hosts: [encrypted({ name: listed, url })], isPrimaryWanted };

  if (!isPrimaryWanted) throw new Error(`must have ?${ATTRIBUTE}=read-write when it names several hosts`);
  if (parameters.has('host') || parameters.has('port')) {
    throw new Error(`must name its hosts before the path, not as parameters, with ${ATTRIBUTE}`);
  }
  parameters.delete(ATTRIBUTE);
  const rebuilt = parameters.size > 0 ? `${path}?${parameters}` : path;
  const hosts = readNames(listed).map((name) => encrypted({ name, url: `${scheme}${credentials}${name}${rebuilt}` }));
  return { hosts: hosts as [DatabaseHost, ...DatabaseHost[]], isPrimaryWanted };
}

/**
 * Reads libpq's `connect_timeout` from the URL.
 * @returns milliseconds; undefined if the URL has no such parameter
 * @throws Error whose message begins with "must"
 */
export function connectTimeoutOf(url: string): number | undefined {
  const given = new URLSearchParams(splitAt(DATABASE_URL.exec(url)?.[4] ?? '', '?')[1]).get('connect_timeout');
  if (given === null) return undefined;
  if (/^\d{1,3}$/.test(given) && Number(given) >= 1 && Number(given) <= MAX_CONNECT_TIMEOUT_S)
    return Number(given) * 1_000;
  throw new Error(`must have a connect_timeout of 1 to ${MAX_CONNECT_TIMEOUT_S} seconds, not "${given}"`);
}

/**
 * Treats an `sslmode` of prefer or allow as libpq treats prefer: encrypts if the server can, without a check of its
 * certificate. The client pg treats `prefer` as verify-full and does not know `allow`.
 */
function encrypted(host: DatabaseHost): DatabaseHost {
  const [address, query] = splitAt(host.url, '?');
  const parameters = new URLSearchParams(query);
  if (!['prefer', 'allow'].includes(parameters.get('sslmode') ?? '')) return host;
  const withMode = (sslmode: string): string => {
    parameters.set('sslmode', sslmode);
    return `${address}?${parameters}`;
  };
  const mode = parameters.get('uselibpqcompat') === 'true' ? 'prefer' : 'no-verify';
  return { name: host.name, url: withMode(mode), plainUrl: withMode('disable') };
}

function readNames(listed: string): string[] {
  const names = listed.split(',').map(readName);
  if (names.length > MAX_HOSTS) throw new Error(`must name at most ${MAX_HOSTS} hosts, not ${names.length}`);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new Error(`must name each host once, and names ${twice} twice`);
  return names;
}

function readName(given: string): string {
  const [, host, port = String(DEFAULT_PORT)] = HOST.exec(given) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > MAX_PORT) {
    throw new Error(`must name hosts as a:5432,b:5432; "${given}" is none`);
  }
  return `${host}:${port}`;
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

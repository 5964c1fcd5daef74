const SENTINEL_PORT = 26_379;
const SERVER_PORT = 6_379;
const MAX_PORT = 65_535;

type Kind = 'server' | 'sentinel' | 'cluster';

const KINDS: Record<string, { kind: Kind; isTls: boolean }> = {
  redis: { kind: 'server', isTls: false },
  rediss: { kind: 'server', isTls: true },
  'redis+tls': { kind: 'server', isTls: true },
  'redis+sentinel': { kind: 'sentinel', isTls: false },
  'redis+sentinel+tls': { kind: 'sentinel', isTls: true },
  'redis+cluster': { kind: 'cluster', isTls: false },
  'redis+cluster+tls': { kind: 'cluster', isTls: true },
};

/** Query parameters of redis+sentinel:// with the login at the sentinels themselves. */
const SENTINEL_USER = 'sentinel_username';
const SENTINEL_PASSWORD = 'sentinel_password';

export interface RedisHost {
  host: string;
  port: number;
}

export interface RedisAddress {
  kind: Kind;
  isTls: boolean;
  /** The server, the sentinels, or nodes of the cluster. */
  hosts: readonly RedisHost[];
  /** The name by which the sentinels know the master; null without sentinels. */
  masterName: string | null;
  user: RedisUser;
  sentinelUser: RedisUser;
}

interface RedisUser {
  username: string | undefined;
  password: string | undefined;
}

/** The groups: scheme, user with password, hosts, path, query. The password ends at the last @, as in all URLs. */
const SHAPE = /^([a-z+]+):\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const HOST = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
const DATABASE = /^\d*$/;
const MASTER_NAME = /^[\w.-]+$/;

/**
 * Reads `redis://host`, `redis+sentinel://host,host/name` or `redis+cluster://host,host`. Each scheme may end with
 * `+tls`. `rediss://` means `redis+tls://`.
 * @throws Error whose message continues a sentence that begins with "EVENTS_URL". The message repeats no part of the
 *   address, because any part may hold a password
 */
export function readRedisAddress(text: string): RedisAddress {
  const [, scheme = '', userInfo, hostList = '', path = '', query = ''] = SHAPE.exec(text) ?? [];
  const { kind, isTls } = KINDS[scheme.toLowerCase()] ?? {};
  if (kind === undefined || isTls === undefined) {
    const schemes = Object.keys(KINDS).map((name) => `${name}://`);
    throw new Error(`must be an address starting with ${schemes.slice(0, -1).join(', ')} or ${schemes.at(-1)}`);
  }
  const hosts = hostList.split(',').map((host, at, all) => readHost(host, kind, `${at + 1} of ${all.length}`));
  if (kind === 'server' && hosts.length > 1)
    throw new Error('must name one host after redis://; several are for redis+sentinel:// and redis+cluster://');
  return {
    kind,
    isTls,
    hosts,
    masterName: readPath(kind, path),
    user: readUser(userInfo),
    sentinelUser: readParameters(kind, query),
  };
}

function readHost(text: string, kind: Kind, which: string): RedisHost {
  const [, host, port] = HOST.exec(text) ?? [];
  const byDefault = kind === 'sentinel' ? SENTINEL_PORT : SERVER_PORT;
  const number = Number(port ?? byDefault);
  if (host === undefined || number < 1 || number > MAX_PORT) {
    throw new Error(
      `has a wrong host (${which}): write a name or an IP address, and :port unless it is ${byDefault}. ` +
        'Special characters of a password must be percent-encoded',
    );
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

/**
 * @returns the name of the master; null without sentinels. The number of a database is ignored, because PUBLISH and
 *   SUBSCRIBE do not depend on it
 */
function readPath(kind: Kind, path: string): string | null {
  if (kind === 'sentinel') {
    if (MASTER_NAME.test(path)) return path;
    throw new Error('must end with the name of the master: redis+sentinel://host,host,host/name');
  }
  if (kind === 'cluster' && path !== '') throw new Error('must have nothing after the hosts of redis+cluster://');
  if (!DATABASE.test(path)) throw new Error('must have nothing after the host but the number of a database');
  return null;
}

function readUser(userInfo: string | undefined): RedisUser {
  if (userInfo === undefined) return { username: undefined, password: undefined };
  const [username = '', ...password] = userInfo.split(':');
  try {
    return {
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password.join(':')) || undefined,
    };
  } catch {
    throw new Error('must have user name and password percent-encoded');
  }
}

function readParameters(kind: Kind, query: string): RedisUser {
  const parameters = new URLSearchParams(query);
  const allowed = kind === 'sentinel' ? [SENTINEL_USER, SENTINEL_PASSWORD] : [];
  if ([...parameters.keys()].some((name) => !allowed.includes(name)))
    throw new Error(
      allowed.length > 0 ? `takes only the parameters ${allowed.join(' and ')}` : 'takes no parameters after ?',
    );
  return {
    username: parameters.get(SENTINEL_USER) || undefined,
    password: parameters.get(SENTINEL_PASSWORD) || undefined,
  };
}

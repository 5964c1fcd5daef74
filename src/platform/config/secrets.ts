import { hkdfSync, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** What a derived key is for. The key of one purpose reveals nothing about the keys of the others. */
export type SecretPurpose =
  'api-key-pepper' | 'backup-check' | 'events-channel' | 'file-links' | 'key-id' | 'share-links' | 'webhook-secrets';

/** A list with at least one item, the newest first. */
export type NewestFirst<Item> = readonly [Item, ...Item[]];

const KEY_BYTES = 32;
/** Maximum number of keys in SECRET_KEY. Each costs a hash when an API key is looked up. */
const MAX_KEYS = 5;
/** Hex characters of the id of a key: 64 bits, so that two keys of one installation do not get the same id. */
const ID_LENGTH = 16;

/**
 * Derives the secrets of the service from the keys of SECRET_KEY. The service signs, hashes and encrypts with the
 * newest key. It accepts what any of the keys has signed, hashed or encrypted.
 */
export class Secrets {
  private readonly derived = new Map<SecretPurpose, NewestFirst<Buffer>>();

  /** @param secretKeys newest first */
  constructor(private readonly secretKeys: NewestFirst<Buffer>) {
    if (secretKeys.some(({ length }) => length !== KEY_BYTES)) throw new Error(`SECRET_KEY must be ${KEY_BYTES} bytes`);
  }

  /** The id of the newest key in hex, for the database. Does not reveal the key. */
  get keyId(): string {
    return this.keyIds[0];
  }

  get keyIds(): NewestFirst<string> {
    return each(this.deriveAll('key-id'), (derived) => derived.toString('hex').slice(0, ID_LENGTH));
  }

  /** 32 bytes, derived from the newest key by HKDF-SHA256. Always the same for one purpose and one key. */
  derive(purpose: SecretPurpose): Buffer {
    return this.deriveAll(purpose)[0];
  }

  deriveAll(purpose: SecretPurpose): NewestFirst<Buffer> {
    let keys = this.derived.get(purpose);
    if (!keys) {
      keys = each(this.secretKeys, (key) => Buffer.from(hkdfSync('sha256', key, '', `darkroom/${purpose}`, KEY_BYTES)));
      this.derived.set(purpose, keys);
    }
    return keys;
  }

  /** Hex texts that show whether a backup was made with these keys. They do not reveal the keys. */
  fingerprints(): NewestFirst<string> {
    return each(this.deriveAll('backup-check'), (derived) => derived.toString('hex'));
  }
}

/** Like `map`, but keeps the type `NewestFirst`. */
export const each = <Item, Result>(
  [newest, ...older]: NewestFirst<Item>,
  of: (item: Item) => Result,
): NewestFirst<Result> => [of(newest), ...older.map(of)];

/**
 * Reads the keys of SECRET_KEY, or else of `DATA_DIR/secret-key`. If this file is missing, creates it with one key.
 * @throws Error if SECRET_KEY or the file is not valid (see `readKeys`), or the file cannot be read: a new key would
 *   silently invalidate every API key and link
 */
export async function loadSecretKeys(config: SecretKeySource): Promise<NewestFirst<Buffer>> {
  return (await findSecretKeys(config)) ?? (await makeSecretKey(secretKeyFile(config), config.dataDir));
}

/** Like `loadSecretKeys`, but returns null instead of making a key. */
export async function findSecretKeys(config: SecretKeySource): Promise<NewestFirst<Buffer> | null> {
  if (config.secretKey) return readKeys(config.secretKey);
  return readSecretKeys(secretKeyFile(config));
}

/**
 * Reads keys in hex, separated by commas, the newest first.
 * @throws Error whose message begins with "must" and contains no key
 */
export function readKeys(text: string): NewestFirst<Buffer> {
  const keys = text.split(',').map((key) => key.trim().toLowerCase());
  if (!keys.every((key) => /^[0-9a-f]{64}$/.test(key))) {
    const several = keys.length > 1 ? ', separated by commas, the newest first' : '';
    throw new Error(`must be 32 bytes in hex (64 characters)${several}`);
  }
  if (keys.length > MAX_KEYS) throw new Error(`must have at most ${MAX_KEYS} keys, not ${keys.length}`);
  if (new Set(keys).size < keys.length) throw new Error('must have each key once');
  return keys.map((key) => Buffer.from(key, 'hex')) as [Buffer, ...Buffer[]];
}

/** The settings that say where the keys are. */
interface SecretKeySource {
  secretKey: string | null;
  dataDir: string;
}

const secretKeyFile = ({ dataDir }: SecretKeySource): string => join(dataDir, 'secret-key');

async function readSecretKeys(file: string): Promise<NewestFirst<Buffer> | null> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return readKeys(text);
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`${file} ${message}; restore it, or delete it to start with a new key`, { cause });
  }
}

/**
 * Writes a new key to a temporary file, then links this file to the name `file`. The link fails if `file` exists. So of
 * two processes that start at once, one makes the key, both read it, and neither reads half a key.
 */
async function makeSecretKey(file: string, dataDir: string): Promise<NewestFirst<Buffer>> {
  // If this process is root, the embedded database runs as another user, who must traverse this folder. `chmod` sets
  // the mode, because umask limits the mode that `mkdir` sets.
  if (await mkdir(dataDir, { recursive: true, mode: 0o700 })) {
    await chmod(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  }
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const keys = await readSecretKeys(file);
  if (!keys) throw new Error(`${file} was deleted while it was being created`);
  return keys;
}

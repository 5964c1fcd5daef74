import { hkdfSync, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';

/** What a derived key is for. The key of one purpose reveals nothing about the others. */
export type SecretPurpose = 'api-key-pepper' | 'backup-check' | 'events-channel' | 'file-links' | 'webhook-secrets';

const KEY_BYTES = 32;

/** Derives every secret of the service from the one SECRET_KEY. */
export class Secrets {
  private readonly derived = new Map<SecretPurpose, Buffer>();

  constructor(private readonly secretKey: Buffer) {
    if (secretKey.length !== KEY_BYTES) throw new Error(`SECRET_KEY must be ${KEY_BYTES} bytes`);
  }

  /** 32 bytes by HKDF-SHA256: always the same for one purpose and one SECRET_KEY. */
  derive(purpose: SecretPurpose): Buffer {
    let key = this.derived.get(purpose);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', this.secretKey, '', `darkroom/${purpose}`, KEY_BYTES));
      this.derived.set(purpose, key);
    }
    return key;
  }

  /** Tells whether a backup was made with this SECRET_KEY, without revealing it. Hex. */
  fingerprint(): string {
    return this.derive('backup-check').toString('hex');
  }
}

/**
 * The SECRET_KEY of the environment, or else the one in `DATA_DIR/secret-key`, which the first start creates.
 * @throws Error if the file holds anything but 32 bytes in hex: a new key would silently invalidate every API key and
 * link
 */
export async function loadSecretKey(config: SecretKeySource): Promise<Buffer> {
  return (await findSecretKey(config)) ?? (await makeSecretKey(secretKeyFile(config), config.dataDir));
}

/** As `loadSecretKey`, but null where that would make a key. */
export async function findSecretKey(config: SecretKeySource): Promise<Buffer | null> {
  if (config.secretKey) return Buffer.from(config.secretKey, 'hex');
  return readSecretKey(secretKeyFile(config));
}

type SecretKeySource = Pick<Config, 'secretKey' | 'dataDir'>;

const secretKeyFile = ({ dataDir }: SecretKeySource): string => join(dataDir, 'secret-key');

async function readSecretKey(file: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(`${file} does not hold 32 bytes in hex; restore it, or delete it to start with a new key`);
  }
  return Buffer.from(text, 'hex');
}

/**
 * Writes the key to a temporary file, then links it to its name. The link fails if the name exists, so when two
 * processes start at once, one wins, both read the same key, and neither reads half a key.
 */
async function makeSecretKey(file: string, dataDir: string): Promise<Buffer> {
  // As root the database runs as another user, which needs to traverse this directory. chmod, because umask limits
  // mkdir's mode.
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
  const key = await readSecretKey(file);
  if (!key) throw new Error(`${file} was deleted while it was being created`);
  return key;
}

import { statSync } from 'node:fs';
import type { Config } from '../../platform/config/config.ts';

/**
 * The mode bits that group and others must not have. Search (0o011) is allowed: as root, the service gives the folder
 * mode 0711, so that the user of the embedded PostgreSQL can pass through it.
 */
const OTHERS_READ_OR_WRITE = 0o066;

/** @throws Error for the operator if other users can read or write the folder */
export function dataDirMode({ dataDir }: Config): string {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  if (!found) return 'created at the first start';
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  if (process.platform !== 'win32' && (found.mode & OTHERS_READ_OR_WRITE) !== 0) {
    throw new Error(`${dataDir} has mode ${mode}, so other users can read or change its list of files; run chmod 0711`);
  }
  return `mode ${mode}`;
}

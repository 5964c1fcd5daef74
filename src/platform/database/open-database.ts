import type { Config } from '../config/config.ts';
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts';

/** The database of a process. */
export interface OpenDatabase {
  /** Connection string including the password: never log it. */
  url: string;
  /** Call this after closing your own connections. Never throws. */
  leave(): Promise<void>;
}

/**
 * Opens the configured database, or joins or starts the embedded one.
 * @throws Error that suggests a remedy
 */
export async function openDatabase({ databaseUrl, dataDir }: Config): Promise<OpenDatabase> {
  return databaseUrl ? { url: databaseUrl, leave: async () => undefined } : startEmbeddedPostgres(dataDir);
}

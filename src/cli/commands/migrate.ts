import { Command } from 'commander';
import { loadConfig } from '../../platform/config.ts';

export function migrateCommand(): Command {
  return new Command('migrate').description('Bring the database to the present version.').action(async () => {
    // Loaded only here: the other commands start in a fifth of the time without the database's libraries.
    const { migrate } = await import('../../platform/database/migrate.ts');
    const { withDatabaseUrl } = await import('../database.ts');
    await withDatabaseUrl(loadConfig(), migrate);
    console.log('The database is up to date.');
  });
}

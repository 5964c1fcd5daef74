import { Command } from 'commander';
import { loadConfig } from '../../platform/config.ts';

export function migrateCommand(): Command {
  return new Command('migrate').description('Migrate the database to the version of this program.').action(async () => {
    // Imported here, because the other commands start in a fifth of the time without the database libraries.
    const { migrate } = await import('../../platform/database/migrate.ts');
    const { withDatabaseUrl } = await import('../database.ts');
    await withDatabaseUrl(loadConfig(), migrate);
    console.log('The database is up to date.');
  });
}

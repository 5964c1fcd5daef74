import { Command } from 'commander';
import { loadConfig } from '../../platform/config/config.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Migrate the database to the version of this program.')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: DATABASE_URL=postgres://localhost/darkroom npx darkroom migrate')
    .action(async ({ json }: { json?: true }) => {
      // Imported here, because the other commands start in a fifth of the time without the database libraries.
      const { migrate } = await import('../../platform/database/migrate.ts');
      const { withDatabaseUrl } = await import('../installation/database.ts');
      const config = loadConfig();
      await withDatabaseUrl(config, (url) => migrate(url, { isBehindPooler: config.databaseDirectUrl !== null }));
      console.log(json ? JSON.stringify({ migrated: true }, null, 2) : 'The database is up to date.');
    });
}

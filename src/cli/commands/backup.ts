import { Command } from 'commander';

export function backupCommand(): Command {
  return new Command('backup')
    .description('Copy the database and the stored files into a new folder. The service may run meanwhile.')
    .argument('<dir>', 'a folder that is empty or does not exist')
    .option('--no-files', 'only the database, where the files have a backup of their own')
    .option('--with-secret-key', 'also the key in DATA_DIR; anyone with the folder can then read every secret')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', '\nExample: npx darkroom backup /backups/2026-11-23')
    .action(async (folder: string, options) => (await import('../backup/run.ts')).backup(folder, options));
}

import { Command } from 'commander';

export function restoreCommand(): Command {
  return new Command('restore')
    .description('Fill an empty database and its storage from a backup of this version or an earlier one.')
    .argument('<dir>', 'the folder that `npx darkroom backup` made')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', '\nExample: DATA_DIR=/srv/darkroom npx darkroom restore /backups/2026-11-23')
    .action(async (folder: string, options) => (await import('../backup/run.ts')).restore(folder, options));
}

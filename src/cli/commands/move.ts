import { Command } from 'commander';
import { wholeNumber } from '../terminal/options.ts';

export function moveCommand(): Command {
  return new Command('move')
    .description(
      'Copy the database into an empty one and compare both. Nothing is deleted, and the files stay where they are.',
    )
    .requiredOption('--to <url>', 'postgres://user:password@host:5432/database')
    .option(
      '--wait <seconds>',
      'how long to wait until the running tasks have ended and the service is stopped',
      wholeNumber,
      600,
    )
    .option('--json', 'print the tables with their rows and SHA-256 as JSON')
    .addHelpText('after', '\nExample: npx darkroom move --to postgres://darkroom:secret@db.example.com/darkroom')
    .action(async (options) => (await import('../backup/run-move.ts')).move(options));
}

#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { existsSync } from 'node:fs';
import { failureText } from './failure-text.ts';
import { auditCommand } from './commands/audit.ts';
import { doctorCommand } from './commands/doctor.ts';
import { generateCommand } from './commands/generate.ts';
import { keysCommand } from './commands/keys.ts';
import { listenCommand } from './commands/listen.ts';
import { migrateCommand } from './commands/migrate.ts';
import { triggerCommand } from './commands/trigger.ts';

// The service's own configuration, as it reads it. Before the commands, whose defaults depend on it.
if (existsSync('.env')) process.loadEnvFile('.env');

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
const WRONG_USAGE = 2;

const program = new Command('darkroom')
  .description('Prompts into images and videos: the command line of a Darkroom service.')
  .addCommand(generateCommand())
  .addCommand(listenCommand())
  .addCommand(triggerCommand())
  .addCommand(keysCommand())
  .addCommand(auditCommand())
  .addCommand(migrateCommand())
  .addCommand(doctorCommand());

// Commander would end the process itself, and with 1 for a wrong option.
for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
  command.exitOverride().showHelpAfterError('(--help shows what there is)');
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
  } else {
    console.error(`error: ${failureText(error)}`);
    process.exitCode = 1;
  }
}

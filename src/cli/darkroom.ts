#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { existsSync } from 'node:fs';
import { failureText } from './failure-text.ts';
import { auditCommand } from './commands/audit.ts';
import { batchCommand } from './commands/batch.ts';
import { doctorCommand } from './commands/doctor.ts';
import { generateCommand } from './commands/generate.ts';
import { keysCommand } from './commands/keys.ts';
import { listenCommand } from './commands/listen.ts';
import { mcpCommand } from './commands/mcp.ts';
import { migrateCommand } from './commands/migrate.ts';
import { openCommand } from './commands/open.ts';
import { opsCommand } from './commands/ops.ts';
import { triggerCommand } from './commands/trigger.ts';
import { usageCommand } from './commands/usage.ts';

// Loads the service's configuration as the service does, before the commands take their defaults from it.
if (existsSync('.env')) process.loadEnvFile('.env');

/** Exit codes: 0 done, 1 failed, 2 usage error. */
const USAGE_ERROR = 2;

const program = new Command('darkroom')
  .description('Turn prompts into images and videos: the command line of a Darkroom service.')
  .addCommand(openCommand())
  .addCommand(generateCommand())
  .addCommand(batchCommand())
  .addCommand(listenCommand())
  .addCommand(triggerCommand())
  .addCommand(mcpCommand())
  .addCommand(usageCommand())
  .addCommand(keysCommand())
  .addCommand(auditCommand())
  .addCommand(opsCommand())
  .addCommand(migrateCommand())
  .addCommand(doctorCommand());

// By default Commander ends the process itself, with code 1 for a wrong option.
for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
  command.exitOverride().showHelpAfterError('(use --help to list the options and commands)');
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  } else {
    console.error(`error: ${failureText(error)}`);
    process.exitCode = 1;
  }
}

import { Command } from 'commander';
import { auditCommand } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { batchCommand } from './commands/batch.ts';
import { completionCommand } from './commands/completion.ts';
import { doctorCommand } from './commands/doctor.ts';
import { filesCommand } from './commands/files.ts';
import { generateCommand } from './commands/generate.ts';
import { keysCommand } from './commands/keys.ts';
import { listenCommand } from './commands/listen.ts';
import { mcpCommand } from './commands/mcp.ts';
import { migrateCommand } from './commands/migrate.ts';
import { modelsCommand } from './commands/models.ts';
import { openCommand } from './commands/open.ts';
import { moveCommand } from './commands/move.ts';
import { opsCommand } from './commands/ops.ts';
import { restoreCommand } from './commands/restore.ts';
import { tasksCommand } from './commands/tasks.ts';
import { triggerCommand } from './commands/trigger.ts';
import { upCommand } from './commands/up.ts';
import { usageCommand } from './commands/usage.ts';
import { webhooksCommand } from './commands/webhooks.ts';

/** The whole command line. Its defaults come from the environment. */
export function darkroomProgram(): Command {
  const program: Command = new Command('darkroom')
    .description('Turn prompts into images and videos: the command line of a Darkroom service.')
    .addCommand(openCommand())
    .addCommand(generateCommand())
    .addCommand(tasksCommand())
    .addCommand(modelsCommand())
    .addCommand(filesCommand())
    .addCommand(batchCommand())
    .addCommand(webhooksCommand())
    .addCommand(listenCommand())
    .addCommand(triggerCommand())
    .addCommand(mcpCommand())
    .addCommand(usageCommand())
    .addCommand(keysCommand())
    .addCommand(auditCommand())
    .addCommand(opsCommand())
    .addCommand(migrateCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(moveCommand())
    .addCommand(doctorCommand())
    .addCommand(upCommand())
    .addCommand(completionCommand(() => program));
  // By default Commander ends the process itself, with code 1 for a wrong option. `exitOverride` makes it throw
  // instead, so that the caller chooses the exit code.
  for (const command of commandsOf(program)) {
    command.enablePositionalOptions(); // --json after a subcommand belongs to the subcommand
    command.exitOverride().showHelpAfterError('(use --help to list the options and commands)');
  }
  return program;
}

export const commandsOf = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsOf)];

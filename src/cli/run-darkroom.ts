import { CommanderError } from 'commander';
import { existsSync } from 'node:fs';
import { exitCodeOf } from './terminal/exit-codes.ts';
import { failureText } from './terminal/failure-text.ts';
import { darkroomProgram } from './program.ts';

/** The reader of the output may stop reading, as `head` does. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

async function run(): Promise<void> {
  // Loads the service's configuration as the service does, before the commands take their defaults from it.
  if (existsSync('.env')) process.loadEnvFile('.env');

  try {
    await darkroomProgram().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) console.error(`error: ${failureText(error)}`);
    process.exitCode = exitCodeOf(error);
  }
}

void run();

import { CommanderError } from 'commander';
import { exitCodeOf } from './terminal/exit-codes.ts';
import { failureText } from './terminal/failure-text.ts';
import { darkroomProgram } from './program.ts';
import { Environment } from '../platform/config/environment.ts';

/** Ends the process when the reader of its output stops reading, as `head` does. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

async function run(): Promise<void> {
  try {
    // The commands take their defaults from the environment, so the configuration of the service is loaded into it
    // first.
    Object.assign(process.env, new Environment().read());
    await darkroomProgram().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) console.error(`error: ${failureText(error)}`);
    process.exitCode = exitCodeOf(error);
  }
}

void run();

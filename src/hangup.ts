import { isatty } from 'node:tty';

/**
 * A SIGHUP asks the service to read log levels, credentials and the login of the database again. By default it would
 * end the process. So this file is imported first, and remembers a signal that comes during the start. If standard
 * input is a terminal, a SIGHUP means that the terminal was closed. During the start it then ends the process, as it
 * does by default.
 */
const isFromTerminal = isatty(0);
let isKept = false;
let serve = (): void => {
  isKept = true;
};
if (!isFromTerminal) process.on('SIGHUP', () => serve());

/**
 * From now on a SIGHUP calls `reload`, or `stop` if standard input is a terminal. For a remembered signal, calls
 * `reload` at once.
 */
export function serveHangups({ reload, stop }: { reload: () => void; stop: () => void }): void {
  if (isFromTerminal) {
    process.on('SIGHUP', stop);
    return;
  }
  serve = reload;
  if (isKept) reload();
}

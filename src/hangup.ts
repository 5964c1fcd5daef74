import { isatty } from 'node:tty';

/**
 * A SIGHUP asks to read the configuration again. Node's default would end the process, so this file is imported first,
 * and keeps a signal that comes while the process starts. In a terminal a SIGHUP says that the terminal was closed,
 * which ends a start.
 */
const isFromTerminal = isatty(0);
let isKept = false;
let serve = (): void => {
  isKept = true;
};
if (!isFromTerminal) process.on('SIGHUP', () => serve());

/** From now on signals are served, and one that was kept is served at once. */
export function serveHangups({ reload, stop }: { reload: () => void; stop: () => void }): void {
  if (isFromTerminal) {
    process.on('SIGHUP', stop);
    return;
  }
  serve = reload;
  if (isKept) reload();
}

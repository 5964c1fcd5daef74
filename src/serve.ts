import { serveHangups } from './hangup.ts';
import { collectGarbageWhenIdle } from './platform/run/collect-garbage.ts';
import type { Config } from './platform/config/config.ts';
import type { Environment } from './platform/config/environment.ts';
import { logProcess } from './platform/observe/logging/log-process.ts';
import { reloadLogLevels } from './platform/observe/logging/reload-levels.ts';
import { startService } from './start-service.ts';
import { welcome } from './welcome.ts';

/**
 * A second signal ends the process at once, but not within this time. A process manager signals all processes of a
 * service, and npm passes its signal on. So with `npm start` the process gets each signal twice.
 */
const SAME_SIGNAL_MS = 1_000;
/**
 * A stopped process ends with its last handle, or after this time. An immediate `process.exit` can hang: Node waits for
 * a thread that waits for the garbage collector (seen once, for nine minutes).
 */
const EXIT_TIMEOUT_MS = 3_000;

/**
 * Starts the service, says that it is ready, and stops it at a signal.
 * @throws Error with a message for the operator
 */
export async function serve(config: Config, environment: Environment): Promise<void> {
  const service = await startService(config);
  let stoppedAt: number | null = null;
  const stop = (): void => {
    if (stoppedAt === null) {
      stoppedAt = performance.now();
      void service.stop().finally(() => setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref());
    } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1);
  };
  const reload = (): void => {
    reloadLogLevels(() => environment.read());
    service.reload();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  serveHangups({ reload, stop });

  collectGarbageWhenIdle();
  logProcess();
  // Written last: who reads it may send a signal at once.
  process.stdout.write(welcome(config, service.firstKey, process.stdout.isTTY ? process.stdout : undefined));
}

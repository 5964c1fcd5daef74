import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

/**
 * Runs the service and the dashboard's development server, both with reload. When one of them ends, the other is ended.
 */

// What is built here has no stamp, so the stamp is removed and the next `npm run build` builds again.
rmSync(new URL('../dist/service.stamp', import.meta.url), { force: true });
const BIN = new URL('../node_modules/.bin/', import.meta.url).pathname;
const children: ChildProcess[] = [
  spawn(`${BIN}nest`, ['start', '--watch'], { stdio: 'inherit' }),
  spawn(`${BIN}vite`, ['--config', 'packages/dashboard/vite.config.ts'], { stdio: 'inherit' }),
];
for (const child of children) {
  child.on('exit', (code) => {
    for (const other of children) other.kill();
    process.exitCode = code ?? 1;
  });
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => children.forEach((child) => child.kill(signal)));

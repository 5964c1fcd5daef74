/**
 * Imported by `npm start` before the program: builds what is not current. The check is in the process of the program,
 * because one of its own took a quarter of the start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isMainThread } from 'node:worker_threads';
import { isCurrent, ROOT } from './build-parts.ts';

/** In a process of its own, which gives all its memory back. */
async function build(): Promise<void> {
  const child = spawn(process.execPath, [`${ROOT}scripts/build.ts`], { stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals): boolean => child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  for (const each of signals) process.off(each, pass);
  if (signal) process.kill(process.pid, signal);
  if (code !== 0) process.exit(code ?? 1);
}

// A thread imports it too.
if (isMainThread && !isCurrent()) await build();

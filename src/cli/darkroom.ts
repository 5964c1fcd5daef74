#!/usr/bin/env node
/**
 * The entry point of the `darkroom` command. Node may be too old for some packages of the commands when this file runs,
 * so no package is imported before the version of Node is known.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** The Node that npm installs beside the package on common systems; null if there is none. */
function installedNode(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return null;
  }
}

function runWith(node: string): void {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', refuse);
  child.on('exit', (code, signal) => (process.exitCode = code ?? 128 + constants.signals[signal!]));
}

function refuse(): void {
  const { node } = process.versions;
  process.stderr.write(`error: darkroom needs Node 22.19 or newer, and this is ${node}: install a newer Node.\n`);
  process.exitCode = 1;
}

if (major > 22 || (major === 22 && minor >= 19)) await import('./run-darkroom.ts');
else {
  const node = installedNode();
  if (node === null) refuse();
  else runWith(node);
}

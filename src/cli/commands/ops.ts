import { Command } from 'commander';
import { addActs } from '../ops/acts.ts';
import { addViews } from '../ops/views.ts';

/**
 * `darkroom ops …`: what an operator sees and does. Works over HTTP with a key that has operations:read, and
 * operations:manage for changes. With `--database` it works on the database and needs no key.
 */
export function opsCommand(): Command {
  const ops = new Command('ops').description('See and steer a running service: processes, tasks, pauses, webhooks.');
  addViews(ops);
  addActs(ops);
  return ops;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../contract/provider.ts';
import { callingFor } from './call-metrics.ts';

type Payer = Pick<Run, 'assertHeld'>;

const payer = new AsyncLocalStorage<Payer>();

/**
 * Makes one paid call of a run. It checks that the run still holds its task, before the call and, if the call has a
 * body, before the last piece of it. In between the connection is opened and images are uploaded, which takes time. If
 * the process is frozen then for longer than its lease, another worker claims the task and makes the call.
 * @param send is called in the context of the run, in which `checkBeforeLastPiece` finds it
 * @throws LeaseLost
 */
export async function paidCall<Result>(run: Payer, send: () => Promise<Result>): Promise<Result> {
  await run.assertHeld();
  return payer.run(run, () => callingFor('submit', send));
}

/**
 * The check before the last piece of a body. Without that piece, no upstream can read the request. Call this function
 * when the body is made, because its stream is read in another context.
 * @returns undefined outside of paid calls; otherwise the check, which throws LeaseLost
 */
export function checkBeforeLastPiece(): (() => Promise<void>) | undefined {
  const run = payer.getStore();
  return run && (() => run.assertHeld());
}

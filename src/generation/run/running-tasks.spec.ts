import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { type Lease, RunningTasks } from './running-tasks.ts';

const LEASE_S = 30;
/** Time between the claim and its answer. */
const CLAIM_MS = 10_000;

describe('a lease before a paid call', () => {
  let nowMs: number;
  let kept: Set<string>;
  let renewals: number;
  let lease: Lease;
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    [nowMs, kept, renewals] = [1_000, new Set(['task_1']), 0];
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const queue = {
      watch: () => () => undefined,
      hold: () => () => undefined,
      read: async () => null,
      renew: async () => {
        renewals += 1;
        return kept;
      },
    };
    const parts = [{ taskLeaseS: LEASE_S, restoredFrom: null }, queue, { nowMs: () => nowMs }, {}];
    const running = new RunningTasks(...(parts as unknown as ConstructorParameters<typeof RunningTasks>));
    const task = {
      id: 'task_1',
      attempt: 1,
      remaining_s: 600,
      claim_sent_ms: nowMs,
      created_at: new Date(),
    } as ClaimedTask;
    nowMs += CLAIM_MS;
    const slot = {} as Lease['slot'];
    await running.run(task, { slot, shutdown: new AbortController().signal }, async (own) => void (lease = own));
  });
  afterEach(() => jest.restoreAllMocks());

  it('is not asked for while it lasts', async () => {
    nowMs += LEASE_S * 1_000 - CLAIM_MS - 1;
    await lease.assertHeld();
    expect(renewals).toBe(0);
  });

  it('is renewed if the process was frozen for longer, counted from when the claim was sent', async () => {
    nowMs += LEASE_S * 1_000 - CLAIM_MS;
    await lease.assertHeld();
    await lease.assertHeld();
    expect(renewals).toBe(1);
  });

  it('is lost if another worker has claimed the task meanwhile', async () => {
    nowMs += LEASE_S * 1_000;
    kept = new Set();
    await expect(lease.assertHeld()).rejects.toThrow('no longer holds task task_1');
    expect(lease.signal.reason).toBe('lease_lost');
  });
});

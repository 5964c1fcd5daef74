import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readClocks } from '../../platform/run/clocks.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { type Lease, RunningTasks } from './running-tasks.ts';

const HEARTBEAT_S = 10;
/** Time between the claim and its answer. */
const CLAIM_MS = 3_000;

describe('a lease before a paid call', () => {
  let nowMs: number;
  let wallMs: number;
  let kept: Set<string>;
  let renewals: number;
  let lease: Lease;
  let shutdown: AbortController;
  let goOn: () => void;
  const pass = (ms: number) => ([nowMs, wallMs] = [nowMs + ms, wallMs + ms]);
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    [nowMs, wallMs, kept, renewals] = [1_000, Date.now(), new Set(['task_1']), 0];
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
    const queue = {
      watch: () => () => undefined,
      hold: () => () => undefined,
      read: async () => null,
      renew: async () => {
        renewals += 1;
        return kept;
      },
    };
    const parts = [{ taskHeartbeatS: HEARTBEAT_S, restoredFrom: null }, queue, { nowMs: () => nowMs }, {}];
    const running = new RunningTasks(...(parts as unknown as ConstructorParameters<typeof RunningTasks>));
    const task = {
      id: 'task_1',
      attempt: 1,
      remaining_s: 600,
      claim_sent: readClocks(),
      created_at: new Date(),
    } as ClaimedTask;
    pass(CLAIM_MS);
    const slot = {} as Lease['slot'];
    shutdown = new AbortController();
    const started = Promise.withResolvers<Lease>();
    const over = new Promise<void>((resolve) => (goOn = resolve));
    void running.run(task, { slot, shutdown: shutdown.signal }, (own) => {
      started.resolve(own);
      return over;
    });
    lease = await started.promise;
  });
  afterEach(() => {
    goOn();
    jest.restoreAllMocks();
  });

  it('is not asked for when it was just renewed', async () => {
    pass(2 * HEARTBEAT_S * 1_000 - CLAIM_MS - 1);
    await lease.assertHeld();
    expect(renewals).toBe(0);
  });

  it('is renewed after two heartbeats, counted from when the claim was sent', async () => {
    pass(2 * HEARTBEAT_S * 1_000 - CLAIM_MS);
    await lease.assertHeld();
    await lease.assertHeld();
    expect(renewals).toBe(1);
  });

  it('is renewed if only the wall clock shows that the machine was frozen', async () => {
    wallMs += 2 * HEARTBEAT_S * 1_000;
    await lease.assertHeld();
    expect(renewals).toBe(1);
  });

  it('is lost if another worker has claimed the task meanwhile', async () => {
    pass(2 * HEARTBEAT_S * 1_000);
    kept = new Set();
    await expect(lease.assertHeld()).rejects.toThrow('no longer holds task task_1');
    expect(lease.signal.reason).toBe('lease_lost');
  });

  it.each(['lease_lost', 'ended', 'deadline'] as const)(
    'does not count once the run was stopped: %s',
    async (reason) => {
      lease.stop(reason);
      await expect(lease.assertHeld()).rejects.toThrow('no longer holds task task_1');
    },
  );

  it('counts during a shutdown', async () => {
    shutdown.abort();
    await lease.assertHeld();
    expect(lease.signal.reason).toBe('shutdown');
  });
});

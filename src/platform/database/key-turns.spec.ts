import { jest } from '@jest/globals';
import type { Config } from '../config/config.ts';
import type { Sql } from './sql.ts';
import { CountTasks } from '../../tasks/sql/count-tasks.ts';
import { MatchTasks } from '../../tasks/sql/match-tasks.ts';
import type { UsageTerms } from '../../tasks/record/usage-terms.ts';
import type { ReadUsage } from '../../usage/sql/read-usage.ts';
import type { UsageQuery } from '../../usage/usage.query.ts';
import { UsageService } from '../../usage/usage.service.ts';
import { ReadEndpointStats } from '../../webhooks/sql/endpoint-stats.ts';
import { KeyTurns } from './key-turns.ts';
import type { TaskWordsIndex } from '../../tasks/sql/task-words.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('requests that hold a connection for long', () => {
  let running: ((rows: unknown[]) => void)[];
  let asked: Promise<unknown>[];
  let sql: Sql;
  let turns: KeyTurns;
  beforeEach(() => {
    [running, asked] = [[], []];
    sql = { run: () => new Promise((resolve) => running.push(resolve)) } as unknown as Sql;
    turns = new KeyTurns({ databasePoolMax: 9 } as Config);
  });
  /** Ends one after the other, with a row of zeros, until none is left. */
  afterEach(async () => {
    while (running.length > 0) {
      running.shift()!([{ queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, nth: 1 }]);
      await turn();
      expect(running.length).toBeLessThanOrEqual(3);
    }
    await Promise.all(asked);
  });

  const ask = (read: Promise<unknown>) => void asked.push(read);
  const page = { limit: 5, after: null, order: 'desc' } as const;
  const list = (key: string) =>
    new MatchTasks(sql, { findable: async () => [] } as unknown as TaskWordsIndex, turns).rows(
      key,
      { search: 'fox' },
      page,
    );
  const count = (key: string) => new CountTasks(sql, turns).count(key, { search: 'fox' });
  const figures = (key: string) => new ReadEndpointStats(sql, turns).of(key, 'we_1', 24);
  const usage = (key: string) => {
    const sums = { read: () => sql.run(null as never) } as unknown as ReadUsage;
    const query = { start_time: 1, bucket_width: 'all' } as UsageQuery;
    return new UsageService(sums, { currency: 'USD' } as UsageTerms, turns).page(key, query);
  };

  it('run two at a time for a key, of all kinds together, and others beside them', async () => {
    for (const read of [list, usage, count, figures, list, usage]) ask(read('a'));
    await turn();
    expect(running).toHaveLength(2);
    ask(figures('b'));
    await turn();
    expect(running).toHaveLength(3);
  });

  it('use a third of the connections at most', async () => {
    for (const key of ['a', 'b', 'c', 'd']) ask(count(key));
    await turn();
    expect(running).toHaveLength(3);
  });

  it('are refused when their turn does not come, each alone', async () => {
    const waits = [new AbortController(), new AbortController(), new AbortController()];
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    for (const { signal } of waits) timeout.mockReturnValueOnce(signal);
    ask(list('a'));
    ask(count('a'));
    await turn();
    const refused = expect(figures('a')).rejects.toMatchObject({ code: 'service_unavailable', retryAfterS: 1 });
    await turn();
    waits[2]!.abort();
    await refused;
    timeout.mockRestore();
  });
});

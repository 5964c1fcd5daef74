import type { Sql, Tx } from '../../platform/database/sql.ts';
import { FillWords } from './fill-words.ts';
import type { TaskWordsIndex } from './task-words.ts';

describe('the copy of prompts for the index of words', () => {
  it('takes half as many tasks after a failure, and more again after success', async () => {
    const asked: unknown[] = [];
    let fails = true;
    const query = async (text: string, values: unknown[] = []) => {
      if (text.includes('pg_try_advisory_xact_lock')) return { rows: [{ is_mine: true }] };
      if (text.includes('to_regclass')) return { rowCount: 1 };
      if (text.includes('as until')) {
        asked.push(values[1]);
        return { rows: [{ until: '1970-01-01 00:00:00+00', tasks: values[1] }] };
      }
      if (text.includes('insert into task_words') && fails) throw new Error('canceling statement due to timeout');
      return { rows: [] };
    };
    const sql = { transaction: (work: (tx: Tx) => unknown) => work({ query } as unknown as Tx) } as unknown as Sql;
    const words = new FillWords(sql, {} as TaskWordsIndex);
    for (let round = 0; round < 8; round += 1) await expect(words.fill()).rejects.toThrow('timeout');
    fails = false;
    for (let round = 0; round < 3; round += 1) expect(await words.fill()).toBe(true);
    expect(asked).toEqual([10_000, 5_000, 2_500, 1_250, 625, 312, 156, 100, 100, 200, 400]);
  });

  it('goes on at the same time while more tasks have ended there than it copies at once', async () => {
    const copied = [10_000, 10_000, 4_814];
    let through = 0;
    const query = async (text: string, values: unknown[] = []) => {
      if (text.includes('pg_try_advisory_xact_lock')) return { rows: [{ is_mine: true }] };
      if (text.includes('to_regclass')) return { rowCount: 1 };
      if (text.includes('as until')) return { rows: [{ until: '1970-01-01 00:00:00+00', tasks: values[1] }] };
      if (text.includes('insert into task_words')) return { rowCount: copied.shift() };
      if (text.includes('set through')) through += 1;
      return { rows: [] };
    };
    const sql = { transaction: (work: (tx: Tx) => unknown) => work({ query } as unknown as Tx) } as unknown as Sql;
    const words = new FillWords(sql, {} as TaskWordsIndex);
    expect([await words.fill(), through]).toEqual([true, 0]);
    expect([await words.fill(), through]).toEqual([true, 0]);
    await words.fill();
    expect(through).toBe(1);
  });
});

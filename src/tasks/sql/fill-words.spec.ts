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
        return { rows: [{ until: new Date(0), tasks: values[1] }] };
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
});

import type { DataSource } from 'typeorm';
import { Sql } from './sql.ts';

const STATEMENT = { name: 'test.statement', text: 'select 1 as one' };
const failure = (code: string) => Object.assign(new Error(code), { code });

/** A pool whose first statements fail with these errors. */
function sqlWith(...failures: Error[]): { sql: Sql; sent: () => number; queries: unknown[] } {
  let sent = 0;
  const queries: unknown[] = [];
  const query = async (query: unknown) => {
    if (typeof query === 'string') return { rows: [], command: query.toUpperCase() };
    sent += 1;
    queries.push(query);
    const error = failures.shift();
    if (error) throw error;
    return { rows: [{ one: 1 }] };
  };
  const master = { query, connect: async () => ({ query, release: () => undefined }) };
  return { sql: new Sql({ driver: { master } } as unknown as DataSource), sent: () => sent, queries };
}

describe('a statement', () => {
  it.each([
    [STATEMENT, { name: 'test.statement', text: 'select 1 as one', values: [2] }],
    [
      { ...STATEMENT, isUnprepared: true },
      { text: '/* test.statement */ select 1 as one', values: [2] },
    ],
  ])('is prepared unless its text follows what clients ask for', async (statement, expected) => {
    const { sql, queries } = sqlWith();
    await sql.run(statement, [2]);
    expect(queries).toEqual([expected]);
  });

  it.each(['40P01', '40001'])(
    'that PostgreSQL ends to resolve a deadlock (%s) runs a second time, and no third',
    async (code) => {
      const once = sqlWith(failure(code));
      expect(await once.sql.run(STATEMENT)).toEqual([{ one: 1 }]);
      expect(once.sent()).toBe(2);
      const twice = sqlWith(failure(code), failure(code));
      await expect(twice.sql.run(STATEMENT)).rejects.toThrow(code);
      expect(twice.sent()).toBe(2);
    },
  );

  it('that skips locked rows, and has waited for one all the same, runs a second time, and no third', async () => {
    const skipping = { ...STATEMENT, skipsLocked: true } as const;
    const once = sqlWith(failure('55P03'));
    expect(await once.sql.run(skipping)).toEqual([{ one: 1 }]);
    expect(once.sent()).toBe(2);
    await expect(sqlWith(failure('55P03'), failure('55P03')).sql.run(skipping)).rejects.toThrow('55P03');
    const waiting = sqlWith(failure('55P03'));
    await expect(waiting.sql.run(STATEMENT)).rejects.toThrow('55P03');
    expect(waiting.sent()).toBe(1);
  });

  it('that fails for another reason runs once', async () => {
    const { sql, sent } = sqlWith(failure('23505'));
    await expect(sql.run(STATEMENT)).rejects.toThrow('23505');
    expect(sent()).toBe(1);
  });

  it('of a transaction that is ended so begins the whole transaction again', async () => {
    const { sql, sent } = sqlWith(failure('40P01'));
    let begun = 0;
    const rows = await sql.transaction(async (tx) => {
      begun += 1;
      return (await tx.query(STATEMENT)).rows;
    });
    expect([rows, begun, sent()]).toEqual([[{ one: 1 }], 2, 2]);
  });
});

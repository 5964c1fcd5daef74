import { ApiError } from '../../errors/api-error.ts';
import type { Statement } from '../../platform/database/sql.ts';
import { CreateTasks } from './create-tasks.ts';

const task = (id: string) => ({ id, api_key_id: 'key_a', limits: { weight: 10 }, estimate_micros: 1 }) as never;
const used = { idempotency_key: 'used', request_hash: 'aa', response: '{}', key_ttl_s: 1 } as never;

it('reports a stored task as stored although the first answer of another one cannot be read', async () => {
  const first = Promise.withResolvers<void>();
  const sql = {
    run: async ({ name }: Statement, values: unknown[]) => {
      if (name !== 'tasks.create_reserved') throw new Error('The connection ended.');
      await first.promise;
      return JSON.stringify(values).includes('known') ? [{ id: 'known', refusal: 'known_key' }] : [];
    },
  };
  const creates = new CreateTasks(sql as never, { open: async () => undefined } as never);
  const earlier = creates.create(task('earlier')); // the others wait for its end, and go together
  const [stored, known] = [creates.create(task('stored')), creates.create(task('known'), used)];
  const refused = expect(known).rejects.toMatchObject({ code: 'service_unavailable' } satisfies Partial<ApiError>);
  first.resolve();
  expect([await earlier, await stored]).toEqual([null, null]);
  await refused;
});

it('gives the room of a key to plain tasks before those that may be known', async () => {
  const sent: { id: string; nth: number }[][] = [];
  const sql = {
    run: async (_: Statement, [, , rows]: string[]) => {
      sent.push(JSON.parse(rows!));
      return [];
    },
  };
  const creates = new CreateTasks(sql as never, { open: async () => undefined } as never);
  const made = ['keyed', 'plain'].map((id) =>
    creates.create({ id, api_key_id: 'key_a', limits: { weight: 10 } } as never, id === 'keyed' ? used : null),
  );
  await Promise.all(made);
  expect(sent.map((rows) => rows.map(({ id, nth }) => `${id} ${nth}`))).toEqual([['plain 1', 'keyed 2']]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import type { Api } from '../../support/clients/api.ts';
import { type BatchBody, BatchClient } from '../../support/clients/batches.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';

const ITEMS = 1_000;
const PICTURE = 100_000;
const requests = Array.from({ length: ITEMS }, (_, nth) => ({
  custom_id: `item-${nth}`,
  body: { model: 'gpt-image-2', prompt: `Number ${nth}` },
}));

/** The steps of the transaction in their order, and what another transaction does to stop it there. */
const ALL_STEPS: Record<string, string> = {
  'the insert of its tasks': 'lock table tasks_live in share mode',
  'the insert of its record': 'lock table batches in share mode',
  'the count into the queue': 'select 1 from key_load for update',
  'the reservation in the budget': 'select 1 from key_budgets for update',
  'its Idempotency-Key': `insert into idempotency_keys (api_key_id, key, request_hash, task_id, response, expires_at)
                          select id, $key, '', 'task_x', '', now() from api_keys where name = 'buyer'`,
};
/** The long form stops it at each, the short one at the first and the last. */
const STEPS = Object.entries(ALL_STEPS).filter(
  (_, at, { length }) => process.env.DARKROOM_TEST_LONG === '1' || at === 0 || at === length - 1,
);
/** What a deferred trigger waits for, as the first act of the commit. */
const COMMIT_LOCK = 'select pg_advisory_lock(58)';

describe('a batch of 1,000 whose process is killed within the commit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-batch-commit-'));
  let database: TestDatabase;
  let fleet: FaultFleet;
  let apiKey: string;
  beforeAll(async () => {
    database = await cloneDatabase();
    const file = join(folder, 'providers.yaml');
    writeFileSync(file, `prices: [{ provider: sandbox, per_image: "0.1" }]`);
    // No worker: every task that exists stays queued.
    fleet = await FaultFleet.on(database.url, { PROVIDERS: file, MAX_QUEUED_PER_KEY: '100000', LOG_LEVEL: 'warn' });
    const { service } = await fleet.add('api');
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'buyer',
      scopes: ['generations:write', 'tasks:read'],
      limits: { budget: { amount_micros: 100 * ITEMS * PICTURE, period: 'total' } },
    });
    apiKey = body.key;
    await buyer().create({ model: 'gpt-image-2', prompt: 'The row of the counters' });
    await queryOnce(
      database.url,
      `create function wait_for_test() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock(58); return null; end $$`,
    );
    await queryOnce(
      database.url,
      `create constraint trigger wait_for_test after insert on batches deferrable initially deferred
       for each row execute function wait_for_test()`,
    );
  });
  afterAll(async () => {
    await fleet?.end();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const buyer = (): Api => fleet.clientOf(fleet.apis[0]!, apiKey);

  /** Sends the batch, and kills the process while its transaction waits for the lock. */
  async function killedAt(lock: string, key: string): Promise<void> {
    const locked = await LockedRows.by(database.url, lock);
    const [member] = fleet.apis;
    const request = new BatchClient(buyer()).create({ requests }, { 'idempotency-key': key }).catch(() => null);
    await eventually('the transaction to wait', () => locked.areAwaited());
    await member!.service.kill('SIGKILL');
    await locked.release();
    expect(await request).toBeNull();
    const open = `select 1 from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
    await eventually('its connections to end', async () => (await queryOnce(database.url, open)).length === 0);
  }

  it.each(STEPS)(
    'leaves nothing at %s, and is made once when it is repeated',
    async (step, lock) => {
      const before = await stored(database.url);
      await killedAt(lock.replace('$key', `'${step}'`), step);
      expect(await stored(database.url)).toEqual(before);
      await fleet.restart(fleet.apis[0]!, 'SIGKILL');
      for (const replayed of [null, 'true']) {
        const { status, headers } = await new BatchClient(buyer()).create({ requests }, { 'idempotency-key': step });
        expect([status, headers.get('idempotent-replayed')]).toEqual([201, replayed]);
      }
      expect(await stored(database.url)).toEqual(oneMoreThan(before));
    },
    120_000,
  );

  it('leaves all when PostgreSQL has the commit, and the repeated request gets the first answer', async () => {
    const before = await stored(database.url);
    await killedAt(COMMIT_LOCK, 'commit');
    expect(await stored(database.url)).toEqual(oneMoreThan(before));
    await fleet.restart(fleet.apis[0]!, 'SIGKILL');
    const client = new BatchClient(buyer());
    const { status, headers, body } = await client.create<BatchBody>({ requests }, { 'idempotency-key': 'commit' });
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(await client.read(body.id)).toMatchObject({ counts: { queued: ITEMS }, request_counts: { total: ITEMS } });
    expect(await stored(database.url)).toEqual(oneMoreThan(before));
  });
});

interface Stored {
  batches: number;
  tasks: number;
  keys: number;
  /** By the counters of the queue. */
  queued: number;
  /** By the row of the budget. */
  reserved: number;
  /** By the tasks. */
  reserved_by_tasks: number;
}

async function stored(url: string): Promise<Stored> {
  const [row] = await queryOnce<Stored>(
    url,
    `select (select count(*)::int from batches) as batches, (select count(*)::int from tasks) as tasks,
            (select count(*)::int from idempotency_keys) as keys, (select sum(queued)::int from key_load) as queued,
            (select sum(total_reserved)::float8 from key_budgets) as reserved,
            (select sum(reserved_micros)::float8 from tasks) as reserved_by_tasks`,
  );
  return row!;
}

const oneMoreThan = ({ batches, tasks, keys, queued, reserved, reserved_by_tasks }: Stored): Stored => ({
  batches: batches + 1,
  tasks: tasks + ITEMS,
  keys: keys + 1,
  queued: queued + ITEMS,
  reserved: reserved + ITEMS * PICTURE,
  reserved_by_tasks: reserved_by_tasks + ITEMS * PICTURE,
});

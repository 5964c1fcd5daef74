import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropExpired, type SweptTables } from '../../src/platform/database/partitions/partition-rows.ts';
import { PartitionSweep } from '../../src/platform/database/partitions/partition-sweep.ts';
import { readPartitions } from '../../src/platform/database/partitions/read-partitions.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { DAY_MS, idBoundAt, timeOfId } from '../../src/platform/schema/time.ts';
import { EVENT_TABLES } from '../../src/webhooks/record/partitioned-tables.ts';
import { PurgeEvents } from '../../src/webhooks/sql/purge-events.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aFailure } from '../support/clients/api.ts';
import { type EndpointBody, WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Days after which an event of these tests has expired. */
const RETENTION = 20;
const NAMES = EVENT_TABLES.tables.map(({ name }) => name);

describe('partitions of webhook events', () => {
  let service: InProcess;
  let database: Client;
  let receiver: Receiver;
  let hooks: WebhookClient;
  let endpoint: EndpointBody;
  let keyId: string;

  beforeAll(async () => {
    service = await startInProcess({
      TASK_RETENTION_DAYS: String(RETENTION),
      TASK_PARTITION_DAYS: '1',
      FILE_RETENTION_DAYS: '1',
      TASK_SWEEP_S: '0.5',
    });
    database = new Client({ connectionString: service.database.url });
    await database.connect();
    await sweep(); // its next run is ten minutes later
    await makeDays();
    receiver = await Receiver.start();
    hooks = new WebhookClient(service.api);
    endpoint = await hooks.endpoint(receiver.url);
    keyId = (await database.query('select api_key_id from webhook_endpoints')).rows[0].api_key_id;
    await addEvents(5, Date.now() - 1_000);
    await addEvents(6, Date.now() + DAY_MS);
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
    await receiver?.stop();
  });

  const startOf = (day: number): number => TODAY - (30 - day) * DAY_MS;
  const count = async (query: string): Promise<number> =>
    Number((await database.query(`select count(*) from ${query}`)).rows[0].count);
  const sweep = (): Promise<void> =>
    (service.app.get(PartitionSweep) as unknown as { interval: { runNow(): Promise<void> } }).interval.runNow();
  const daysOf = async (table: string): Promise<string[]> =>
    (await readPartitions(database, table))
      .filter(({ name }) => name.includes('_day_'))
      .map(({ name }) => name.replace(/.*_day_/, ''));

  /** Replaces all partitions by one for each of the last 30 days; there is none for today. */
  const makeDays = async () => {
    const days = Array.from({ length: 30 }, (_, day) => day);
    for (const table of NAMES) {
      const made = days.map(
        (day) =>
          `create table ${table}_day_${day} partition of ${table} for values from ('${idBoundAt(startOf(day), 'evt')}') to ('${idBoundAt(startOf(day + 1), 'evt')}')`,
      );
      const others = (await readPartitions(database, table)).map(({ name }) => `drop table ${name}`);
      await database.query([...others, ...made].join(';'));
    }
  };

  /** Events of the middle of that day, each with a delivery that failed and is due again in an hour. */
  const addEvents = async (day: number, expiresMs: number, amount = 1): Promise<string> => {
    const id = idBoundAt(startOf(day) + DAY_MS / 2, 'evt');
    await database.query(
      `with events as (
         insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
         select $1 || lpad(n::text, 16, '0'), $2, 'task.failed', '{}', to_timestamp($3), to_timestamp($4) from generate_series(1, $6::int) n
         returning id
       ), dispatches as (
         insert into webhook_dispatches (event_id, endpoint_id, attempt, failures, due_at)
         select id, $5, 1, 1, now() + interval '1 hour' from events
       )
       insert into webhook_deliveries (id, event_id, endpoint_id, event_type, attempt, trigger, attempted_at, duration_ms)
       select 'dlv' || substr(id, 4), id, $5, 'task.failed', 1, 'scheduled', now(), 1 from events`,
      [id, keyId, startOf(day) / 1000, expiresMs / 1000, endpoint.id, amount],
    );
    return `${id}${'1'.padStart(16, '0')}`;
  };
  const ofEvent = (id: string): Promise<number[]> =>
    Promise.all(EVENT_TABLES.tables.map(({ name, key }) => count(`${name} where ${key} = '${id}'`)));

  it('an event that belongs to no partition is delivered, logged and sent again', async () => {
    await service.api.create(aFailure);
    const [first] = await receiver.until(1);
    await eventually('the log', async () => (await hooks.deliveries(endpoint.id)).data.some(({ event_id }) => event_id === first!.event.id)); // prettier-ignore
    expect(await Promise.all(NAMES.map((table) => count(`${table}_rest`)))).toEqual([1, 1, 1]);
    expect((await hooks.redeliver(first!.event.id)).status).toBe(200);
    await receiver.until(2);
    await eventually('both attempts in the log', async () => (await hooks.deliveries(endpoint.id, `?event_id=${first!.event.id}`)).data.length === 2); // prettier-ignore
  });

  it('those of the days to come have the same bounds in each table, behind what the default one has', async () => {
    const ahead = async (table: string) =>
      (await readPartitions(database, table))
        .filter(({ from }) => timeOfId(from) >= TODAY)
        .map(({ from, to }) => [from, to]);
    await eventually('partitions', async () => {
      await sweep();
      return (await ahead(NAMES[2]!)).length > 0;
    });
    await Promise.all([sweep(), sweep()]);
    const [events, ...others] = await Promise.all(NAMES.map(ahead));
    expect(timeOfId(events![0]![0]!)).toBe(TODAY + DAY_MS);
    expect(timeOfId(events!.at(-1)![1]!)).toBeGreaterThan(Date.now() + 7 * DAY_MS);
    for (const each of others) expect(each).toEqual(events);
  });

  it('leaves expired events to the drop, shows and sends nothing of them, and deletes single ones of younger partitions', async () => {
    const [old, short, visible] = [
      await addEvents(10, Date.now() - 1_000), // its day has begun to expire
      await addEvents(20, Date.now() - 1_000),
      await addEvents(21, Date.now() + DAY_MS),
    ];
    await sweep();
    while (await service.app.get(PurgeEvents).run());
    expect(await ofEvent(old)).toEqual([1, 0, 1]);
    expect(await ofEvent(short)).toEqual([0, 0, 0]);
    expect(await ofEvent(visible)).toEqual([1, 1, 1]);
    const shown = (await hooks.deliveries(endpoint.id)).data.map(({ event_id }) => event_id);
    expect(shown).toContain(visible);
    expect(shown).not.toContain(old);
    expect((await service.api.get(`/v1/webhook_events/${old}`)).status).toBe(404);
    expect((await hooks.redeliver(old)).status).toBe(404);
  });

  /** @param expired how long ago, of PostgreSQL */
  const addExpired = async (atMs: number, expired: string): Promise<string> => {
    const id = idBoundAt(atMs, 'evt') + '1'.padStart(16, '0');
    await database.query(
      `insert into webhook_events (id, api_key_id, type, body, created_at, expires_at) values ($1, $2, 'task.failed', '{}', now(), now() - $3::interval)`,
      [id, keyId, expired],
    );
    return id;
  };

  it('deletes expired events of the default partition one by one', async () => {
    const id = await addExpired(startOf(-5), '1 s');
    while (await service.app.get(PurgeEvents).run());
    expect(await ofEvent(id)).toEqual([0, 0, 0]);
  });

  it('gives up an attempt whose event is gone', async () => {
    const id = idBoundAt(startOf(22), 'evt') + '1'.padStart(16, '0');
    await database.query(
      `insert into webhook_dispatches (event_id, endpoint_id, attempt, lease_until) values ($1, $2, 1, now() - interval '1 s')`,
      [id, endpoint.id],
    );
    await eventually('the dispatch to be deleted', async () => (await count(`webhook_dispatches where event_id = '${id}'`)) === 0); // prettier-ignore
  });

  it('drops what is past the retention from every table, and keeps a day with a visible event', async () => {
    const kept = ['6', ...Array.from({ length: 20 }, (_, at) => String(at + 10))];
    // Beside other statements a partition may be in use.
    for (let tries = 0; tries < 60 && (await daysOf(NAMES[0]!)).join() !== kept.join(); tries += 1) await sweep();
    for (const table of NAMES) expect(await daysOf(table)).toEqual(kept);
  });

  it('deletes what has long expired in a partition that something keeps', async () => {
    const [long, justNow] = [await addExpired(startOf(6), '3 days'), await addExpired(startOf(6) + 1, '1 s')];
    while (await service.app.get(PurgeEvents).run());
    expect([await ofEvent(long), await ofEvent(justNow)]).toEqual([
      [0, 0, 0],
      [1, 0, 0],
    ]);
    expect(await count(`webhook_events_day_6 where expires_at > now()`)).toBe(1);
  });

  it('loses no webhook and sends none twice while partitions are dropped under load', async () => {
    const before = receiver.received.length;
    for (const day of [11, 12, 13]) await addEvents(day, Date.now() - 1_000, 10_000);
    const over = new AbortController();
    let accepted = 0;
    const client = async () => {
      while (!over.signal.aborted) {
        expect((await service.api.create(aFailure)).status).toBe(201);
        accepted += 1;
      }
    };
    const clients = [client(), client()];
    await sleep(1_000);
    const { registered } = service.app.get(PartitionSweep) as unknown as { registered: SweptTables[] };
    const tables = registered.find(({ prefix }) => prefix === EVENT_TABLES.prefix)!;
    for (const day of [11, 12, 13]) {
      const partition = (await readPartitions(database, NAMES[0]!)).find(({ name }) => name.endsWith(`_day_${day}`))!;
      await eventually('the drop', async () => (await dropExpired(service.app.get(Sql), tables, partition)) === 'dropped'); // prettier-ignore
    }
    over.abort();
    await Promise.all(clients);
    const received = () => receiver.received.slice(before).map(({ event }) => event.id);
    await eventually('every webhook', async () => new Set(received()).size === accepted);
    await sleep(500);
    expect(received()).toHaveLength(accepted);
    expect(await daysOf(NAMES[2]!)).not.toContain('12');
  });
});

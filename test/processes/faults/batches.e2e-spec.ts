import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { Api } from '../../support/clients/api.ts';
import { BatchClient, type BatchBody } from '../../support/clients/batches.ts';
import { WebhookClient } from '../../support/clients/webhook-client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { eventually } from '../../support/wait.ts';

const ITEMS = 1_000;
/** Milliseconds from the request to the kill: before, in and after the commit, which takes some 100 ms. */
const KILLS_AFTER_MS = [10, 100, 180, 260, 400];

describe('a batch of 1,000 whose process is killed', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  beforeAll(async () => {
    database = await cloneDatabase();
    // No worker: every task that exists stays queued.
    fleet = await FaultFleet.on(database.url, { MAX_QUEUED_PER_KEY: '100000', LOG_LEVEL: 'warn' });
    await fleet.add('api');
  }, 120_000);
  afterAll(async () => {
    await fleet?.end();
    await database.drop();
  });

  it('is there whole or not at all, and once when the request is repeated', async () => {
    const [member] = fleet.apis;
    const requests = Array.from({ length: ITEMS }, (_, nth) => ({
      custom_id: `item-${nth}`,
      body: { model: 'gpt-image-2', prompt: `Number ${nth}` },
    }));
    for (const [nth, afterMs] of KILLS_AFTER_MS.entries()) {
      const client = new BatchClient(member!.service.api);
      const headers = { 'idempotency-key': `killed-${nth}` };
      const request = client.create({ requests }, headers).catch(() => null); // the connection breaks off
      await sleep(afterMs);
      await fleet.restart(member!, 'SIGKILL');
      await request;
      // A backend of the killed process may still be at work.
      const made = await eventually('whole batches', async () => {
        const counts = await countsIn(database.url);
        return counts.backends === 0 && counts;
      });
      expect(made).toMatchObject({ torn: 0, tasks: made.batches * ITEMS, queued: made.batches * ITEMS });
      expect([nth, nth + 1]).toContain(made.batches);
      const repeated = await new BatchClient(member!.service.api).create({ requests }, headers);
      expect(repeated.status).toBe(201);
      expect(await countsIn(database.url)).toMatchObject({
        torn: 0,
        batches: nth + 1,
        tasks: (nth + 1) * ITEMS,
        queued: (nth + 1) * ITEMS,
      });
    }
  }, 600_000);
});

interface Counts {
  batches: number;
  tasks: number;
  queued: number;
  /** Batches that have another number of tasks than items. */
  torn: number;
  /** Connections with an open transaction, beside this one. */
  backends: number;
}

async function countsIn(url: string): Promise<Counts> {
  const [counts] = await queryOnce<Counts>(
    url,
    `select (select count(*)::int from batches) as batches, (select count(*)::int from tasks) as tasks,
            (select coalesce(sum(queued), 0)::int from key_load) as queued,
            (select count(*)::int from batches b
             where b.total <> (select count(*) from tasks t where t.batch_id = b.id)) as torn,
            (select count(*)::int from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
               and backend_type = 'client backend') as backends`,
  );
  return counts!;
}

describe('batches on two workers that are killed at random', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  let receiver: Receiver;
  beforeAll(async () => {
    database = await cloneDatabase();
    receiver = await Receiver.start();
    fleet = await FaultFleet.on(database.url, {
      TASK_LEASE_S: '2',
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.3',
      TASK_MAX_ATTEMPTS: '50',
      MAX_RUNNING_PER_KEY: '0',
      WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1',
      LOG_LEVEL: 'warn',
    });
    await Promise.all([fleet.add('api'), fleet.add('worker'), fleet.add('worker')]);
  }, 180_000);
  afterAll(async () => {
    await fleet?.end();
    await receiver.stop();
    await database.drop();
  });

  it('each end once with exact counts, also when their last items end at the same time in two processes', async () => {
    const api: Api = fleet.apis[0]!.service.api;
    await new WebhookClient(api).endpoint(receiver.url, { events: ['batch.completed'] });
    const batches = new BatchClient(api);
    const failure = (nth: number) => ({
      model: 'gpt-image-2',
      prompt: `#delay:${(nth % 4) / 10} #fail:provider_rejected`,
    });
    const made: BatchBody[] = [];
    const killed = (async () => {
      for (let nth = 0; nth < 3; nth += 1) {
        await sleep(700);
        await fleet.restart(fleet.workers[nth % 2]!, 'SIGKILL');
      }
    })();
    for (let nth = 0; nth < 60; nth += 1) made.push(await batches.of([failure(nth), failure(nth)]));
    made.push(await batches.of(Array.from({ length: 200 }, (_, nth) => failure(nth))));
    await killed;
    for (const { id, request_counts } of made) {
      const ended = await batches.untilEnded(id);
      expect(ended).toMatchObject({
        status: 'completed',
        counts: { failed: request_counts.total, queued: 0, running: 0 },
      });
    }
    const ids = made.map(({ id }) => id).toSorted();
    await eventually('a webhook of every batch', async () => receivedIds(receiver).size === ids.length);
    const events = await queryOnce<{ id: string }>(
      database.url,
      `select body::json->'data'->>'id' as id from webhook_events where type = 'batch.completed' order by 1`,
    );
    expect(events.map(({ id }) => id)).toEqual(ids);
  }, 300_000);
});

const receivedIds = (receiver: Receiver): Set<unknown> => new Set(receiver.received.map(({ event }) => event.data.id));

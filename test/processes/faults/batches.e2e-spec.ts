import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { Api } from '../../support/clients/api.ts';
import { BatchClient, type BatchBody } from '../../support/clients/batches.ts';
import { WebhookClient } from '../../support/clients/webhook-client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { eventually } from '../../support/wait.ts';

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
  });
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
  });
});

const receivedIds = (receiver: Receiver): Set<unknown> => new Set(receiver.received.map(({ event }) => event.data.id));

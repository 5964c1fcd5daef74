// Own settings: two places, which a batch fills, and no bound of running tasks.
import { Api } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { queryOnce } from '../support/faults/watch.ts';

const ITEMS = 300;
const CONCURRENCY = 2;
const aQuickFailure = { model: 'gpt-image-2', prompt: '#delay:0.05 #fail:content_policy_violation' };

describe('a large batch beside the single task of another key', () => {
  let service: OwnService;
  let batches: BatchClient;
  let other: Api;
  beforeAll(async () => {
    service = await startOwnService({ WORKER_CONCURRENCY: String(CONCURRENCY), MAX_RUNNING_PER_KEY: '0' });
    batches = new BatchClient(service.api);
    other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
  });
  afterAll(() => service?.close());

  /** Items that started between the creation of the task and its start. */
  const startedBefore = async (taskId: string, batchId: string): Promise<number> => {
    const [row] = await queryOnce<{ n: number }>(
      service.database.url,
      `select count(*)::int as n from tasks item, tasks own
       where own.id = $1 and item.batch_id = $2 and item.started_at >= own.created_at and item.started_at < own.started_at`,
      [taskId, batchId],
    );
    return row!.n;
  };

  // A claim takes as many tasks as there are free slots; one more may have begun when the task was created. A low task
  // beside normal ones gets every tenth start.
  it.each([
    ['low', 'normal', 2 * CONCURRENCY],
    ['low', 'low', 2 * CONCURRENCY],
    ['normal', 'normal', 2 * CONCURRENCY],
    ['normal', 'low', 10 + 2 * CONCURRENCY],
  ])('of %s priority lets a %s task start after at most a few of its items', async (ofBatch, ofTask, most) => {
    const { id } = await batches.of(
      Array.from({ length: ITEMS }, () => aQuickFailure),
      { priority: ofBatch },
    );
    await batches.until(id, 'its items to run', ({ counts }) => counts.failed > 10);
    for (let nth = 0; nth < 3; nth += 1) {
      const { body } = await other.create({ ...aQuickFailure, priority: ofTask }, { prefer: 'wait=30' });
      expect(body.status).toBe('failed');
      expect(await startedBefore(body.task_id, id)).toBeLessThanOrEqual(most);
    }
    // The comparison means something only while more of the batch waits than may start before the task.
    expect((await batches.read(id)).counts.queued).toBeGreaterThan(most);
    await batches.cancel(id);
    await batches.untilEnded(id);
  });
});

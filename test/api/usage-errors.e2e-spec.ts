import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aCat } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

interface Result {
  errorCode: string | null;
  model: string;
  tasks: number;
  failed: number;
}

describe('usage by error', () => {
  let service: InProcess;
  beforeAll(async () => void (service = await startInProcess()));
  afterAll(() => service.close());

  const fail = (code: string) => ({ ...aCat, prompt: `A cup #fail:${code}` });

  it('says why tasks failed, before and after they are summed up, and when the tasks are deleted', async () => {
    const cancelled = (await service.api.create({ ...aCat, prompt: 'A cup #delay:60' })).body.task_id;
    await service.api.cancel(cancelled);
    const prompts = [aCat, fail('provider_timeout'), fail('provider_timeout'), fail('content_policy_violation')];
    for (const body of prompts) await service.api.untilFinal((await service.api.create(body)).body.task_id);
    const client = new GraphqlClient(service.baseUrl, service.api.key);
    const read = async () => {
      const { data } = await client.ask<{ usage: { data: { results: Result[] }[] } }>(
        `{ usage(startTime: 1700000000, bucketWidth: "all", groupBy: ["error_code"]) {
             data { results { errorCode tasks failed cancelled } } } }`,
      );
      return data.usage.data[0]!.results;
    };
    const expected = [
      { errorCode: 'provider_timeout', tasks: 2, failed: 2, cancelled: 0 },
      { errorCode: null, tasks: 2, failed: 0, cancelled: 1 },
      { errorCode: 'content_policy_violation', tasks: 1, failed: 1, cancelled: 0 },
    ];
    expect(await read()).toEqual(expect.arrayContaining(expected));
    expect(await service.app.get(RollUp).next()).toBeGreaterThan(0);
    expect(await read()).toEqual(expect.arrayContaining(expected));
    const failed = (await service.api.get<{ data: { task_id: string }[] }>('/v1/tasks?status=failed')).body.data;
    for (const { task_id } of failed) await service.api.call('DELETE', `/v1/tasks/${task_id}`);
    expect(await read()).toHaveLength(3);
  });
});

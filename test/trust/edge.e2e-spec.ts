import { aHang } from '../support/clients/api.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/wait.ts';

describe('the edge', () => {
  let service: TestApp;
  beforeAll(async () => (service = await startApp()));
  afterAll(() => service.close());

  it('bounds the open waits of one key, and answers at once past them', async () => {
    const { body } = await service.api.create(aHang);
    let answered = 0;
    const waits = Array.from({ length: 260 }, async () => {
      const { status } = await service.api.get(`/v1/tasks/${body.task_id}?wait=60`);
      answered += 1;
      return status;
    });
    await eventually('60 answers', async () => answered >= 60, 20_000);
    expect((await service.api.get(`/v1/tasks/${body.task_id}?wait=60`)).body).toMatchObject({ status: 'running' });
    expect(answered).toBe(60);
    await service.api.cancel(body.task_id);
    expect(await Promise.all(waits)).toEqual(waits.map(() => 200));
  }, 90_000);
});

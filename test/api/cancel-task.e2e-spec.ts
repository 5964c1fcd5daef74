import { type ErrorBody, aCat, aFailure, aHang } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';

describe('POST /v1/tasks/{task_id}/cancel', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('ends a running task: failed, task_cancelled, progress 0, completed_at set', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const { status, headers, body: cancelled } = await service.api.cancel(body.task_id);
    expect(status).toBe(200);
    expect(headers.get('cancel-outcome')).toBe('cancelled');
    expect(cancelled).toMatchObject({
      status: 'failed',
      progress: 0,
      error: { code: 'task_cancelled', retryable: false },
    });
    expect(cancelled.completed_at).toBeGreaterThan(0);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).body).toEqual(cancelled);
  });

  it('leaves a finished task as it is', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    const { status, headers, body: same } = await service.api.cancel(body.task_id);
    expect(status).toBe(200);
    expect(headers.get('cancel-outcome')).toBe('already_final');
    expect(same).toEqual(body);
  });

  it('frees the worker: the next task does not wait for a video of minutes', async () => {
    const { body } = await service.api.create({
      model: 'sora-2',
      prompt: 'A storm at sea',
      resolution: '4K',
      duration: 20,
    });
    await service.api.until(body.task_id, 'running');
    await service.api.cancel(body.task_id);
    const next = await service.api.create(aCat, { prefer: 'wait=60' });
    expect(next.body.status).toBe('succeeded');
  });

  it('accepts an empty body and a JSON body, and refuses unknown ids', async () => {
    const { body } = await service.api.create(aHang);
    expect((await service.api.call('POST', `/v1/tasks/${body.task_id}/cancel`, {})).status).toBe(200);
    const unknown = await service.api.call<ErrorBody>('POST', '/v1/tasks/task_01jd8e5t9kf3qs7m2v4xw6yzab/cancel');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'task_not_found']);
  });

  it('races 100 cancels against finishes: each task has one final state, and keeps it', async () => {
    // Of ten tasks, one is cancelled after its end and one never ends, so both sides win some of the races.
    const [over, endless] = [0, 1];
    const prompts = Array.from({ length: 100 }, (_, at) =>
      at % 10 === endless ? '#hang' : `#fail:provider_timeout #delay:${(at % 20) / 100}`,
    );
    const made = await Promise.all(prompts.map((prompt) => service.api.create({ model: 'gpt-image-2', prompt })));
    const outcomes = await Promise.all(
      made.map(async ({ body }, at) => {
        if (at % 10 === over) await service.api.untilFinal(body.task_id);
        else for (let reads = at % 7; reads > 0; reads -= 1) await service.api.get(`/v1/tasks/${body.task_id}`);
        const { headers, body: answered } = await service.api.cancel(body.task_id);
        return { outcome: headers.get('cancel-outcome'), answered };
      }),
    );
    for (const { outcome, answered } of outcomes) {
      expect(answered.error?.code).toBe(outcome === 'cancelled' ? 'task_cancelled' : 'provider_timeout');
    }
    // It ends later than any of the others would have, so every late write has happened by now.
    const last = await service.api.create({ model: 'gpt-image-2', prompt: '#fail:provider_timeout #delay:0.5' });
    await service.api.untilFinal(last.body.task_id);
    for (const { answered } of outcomes) {
      const { body } = await service.api.get(`/v1/tasks/${answered.task_id}`);
      expect(body).toEqual(answered);
    }
    const won = outcomes.filter(({ outcome }) => outcome === 'cancelled').length;
    expect(won).toBeGreaterThanOrEqual(10);
    expect(won).toBeLessThanOrEqual(90);
  });
});

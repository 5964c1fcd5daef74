import { type ErrorBody, aCat, aFailure, aHang } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';

describe('GET /v1/tasks/{task_id}', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('shows a succeeded task with its outputs, which work without the API key', async () => {
    const { body } = await service.api.create(
      { ...aCat, n: 2, resolution: '1K', aspect_ratio: '16:9' },
      { prefer: 'wait=30' },
    );
    expect(body).toMatchObject({ status: 'succeeded', progress: 100 });
    expect(body.error).toBeUndefined();
    const [first, second] = body.result?.outputs ?? [];
    expect(first).toMatchObject({ index: 0, type: 'image', content_type: 'image/png', width: 1536, height: 864 });
    expect(first?.duration).toBeUndefined();
    expect(second?.sha256).not.toBe(first?.sha256);
    const bytes = await (await fetch(first?.url as string)).arrayBuffer();
    expect(bytes.byteLength).toBe(first?.size_bytes);
  });

  it('shows why a task failed, and no result', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation', retryable: false } });
    expect(body.result).toBeUndefined();
    expect(body.completed_at).toBeGreaterThan(0);
  });

  it('sends a poll interval with an unfinished task only', async () => {
    const { body } = await service.api.create(aHang);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).headers.get('retry-after')).toBe('2');
    await service.api.cancel(body.task_id);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).headers.get('retry-after')).toBeNull();
  });

  it('answers 304 to its own ETag until something changes', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const path = `/v1/tasks/${body.task_id}`;
    const etag = (await service.api.get(path)).headers.get('etag') as string;
    expect((await service.api.get(path, { 'if-none-match': etag })).status).toBe(304);
    await service.api.cancel(body.task_id);
    const changed = await service.api.get(path, { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.body.status).toBe('failed');
  });

  it('with wait answers at the end of the task', async () => {
    const { body } = await service.api.create({ ...aCat, prompt: 'A cat #delay:0.7' });
    const startedAt = Date.now();
    const ended = await service.api.get(`/v1/tasks/${body.task_id}?wait=60`);
    expect(ended.body.status).toBe('succeeded');
    expect(Date.now() - startedAt).toBeLessThan(50_000); // not at the end of the wait
  });

  it('with wait and If-None-Match answers at the first change', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const path = `/v1/tasks/${body.task_id}`;
    const etag = (await service.api.get(path)).headers.get('etag') as string;
    const waiting = service.api.get(`${path}?wait=20`, { 'if-none-match': etag });
    await service.api.cancel(body.task_id);
    expect((await waiting).body.status).toBe('failed');
  });

  it.each(['61', '-1', 'soon', '1.5'])('refuses wait=%s', async (wait) => {
    const { body } = await service.api.create(aFailure);
    expect((await service.api.get(`/v1/tasks/${body.task_id}?wait=${wait}`)).status).toBe(400);
  });

  it('gives the same answer for an unknown, a malformed and a foreign id', async () => {
    const { body } = await service.api.create(aFailure);
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const foreign = await fetch(`${service.baseUrl}/v1/tasks/${body.task_id}`, {
      headers: { authorization: `Bearer ${other.body.key}` },
    });
    const unknown = await service.api.get<ErrorBody>('/v1/tasks/task_01jd8e5t9kf3qs7m2v4xw6yzab');
    const malformed = await service.api.get<ErrorBody>(`/v1/tasks/${encodeURIComponent("' or 1=1 --")}`);
    const errors = [(await foreign.json()) as ErrorBody, unknown.body, malformed.body].map(({ error }) => ({
      ...error,
      request_id: '',
    }));
    expect(foreign.status).toBe(404);
    expect(errors[0]).toMatchObject({ code: 'task_not_found' });
    expect(errors[1]).toEqual(errors[0]);
    expect(errors[2]).toEqual(errors[0]);
  });

  it('never lets progress fall while running', async () => {
    const { body } = await service.api.create({
      model: 'sora-2',
      prompt: 'Waves',
      duration: 3,
      resolution: '720P',
    });
    const seen: number[] = [];
    for (let task = body; task.status === 'queued' || task.status === 'running';) {
      ({ body: task } = await service.api.get(`/v1/tasks/${body.task_id}`));
      seen.push(task.progress);
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(100);
    expect(seen.filter((progress) => progress > 0 && progress < 100).length).toBeGreaterThan(0);
  });
});

import { Api, type Answer, type ErrorBody } from '../../support/clients/api.ts';
import { aPicture } from '../../support/clients/files.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { joinSecondProcess, joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const PATH = '/v1/images/generations';

/** Calls of clients that say nothing about their retries. Two processes; only the first runs tasks. */
describe('a call that equals an earlier one', () => {
  let service: SharedService;
  let second: Api;
  let count = 0;
  beforeAll(async () => {
    service = await joinService();
    second = new Api(await joinSecondProcess(service), service.api.key);
  });
  afterAll(() => service.close());

  const hanging = () => ({ prompt: `#hang ${service.keyId} ${(count += 1)}` });
  const call = (body: object, api: Api = service.api, headers: object = {}) =>
    api.call<ErrorBody>('POST', PATH, body, headers);
  const rows = <Row extends object>(sql: string, ...values: unknown[]) =>
    queryOnce<Row>(service.database.url, sql, values);
  const tasksOf = async ({ prompt }: { prompt: string }) => {
    const found = await rows<{ id: string }>(`select id from tasks where input->>'prompt' = $1 order by id`, prompt);
    return found.map(({ id }) => id);
  };
  const untilTasks = (body: { prompt: string }, wanted: number) =>
    eventually(`${wanted} tasks`, async () => {
      const found = await tasksOf(body);
      return found.length === wanted && found;
    });
  const untilCalls = (where: string, taskId: string, wanted = 1) =>
    eventually(where, async () => {
      const found = await rows(`select 1 from calls where task_id = $1 and ${where}`, taskId);
      return found.length === wanted;
    });
  const taskIn = ({ headers }: Answer<unknown>) => headers.get('task-id');

  /** A busy machine may need more than the 10 s to send the next call. */
  async function keepFailure(answer: Answer<unknown>): Promise<void> {
    const keep = `update calls set failed_until = failed_until + interval '1 hour'
      where task_id = $1 and failed_until <= now() + interval '10 s' returning 1`;
    expect(await rows(keep, taskIn(answer))).toHaveLength(1);
  }

  /** @returns the task; the service has noticed that the caller has gone */
  async function cut(body: { prompt: string }): Promise<string> {
    const controller = new AbortController();
    const broken = fetch(new URL(PATH, service.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${service.api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    const [taskId] = await untilTasks(body, 1);
    controller.abort();
    await expect(broken).rejects.toThrow();
    await untilCalls('hung_up_at is not null', taskId!);
    return taskId!;
  }

  /** The answer of a call whose task is cancelled once the call has joined it. */
  async function cancelledWhenJoined(joining: Promise<Answer<ErrorBody>>, taskId: string): Promise<Answer<ErrorBody>> {
    await untilCalls('joined_retry > 0 and joined_until > now()', taskId);
    await service.api.cancel(taskId);
    return joining;
  }

  it('joins its task if the caller hung up, also in another process', async () => {
    const body = hanging();
    const taskId = await cut(body);
    const answer = await cancelledWhenJoined(call(body, second), taskId);
    expect([answer.status, answer.body.error.code, taskIn(answer)]).toEqual([422, 'task_cancelled', taskId]);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await tasksOf(body)).toEqual([taskId]);
  });

  it('joins it too as a form whose fields come in another order', async () => {
    const body = hanging();
    const picture = new Uint8Array(await aPicture());
    const send = (fields: Record<string, string>, signal: AbortSignal | null = null) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('image', new Blob([picture], { type: 'image/png' }), 'a.png');
      const headers = { authorization: `Bearer ${service.api.key}` };
      return fetch(new URL('/v1/images/edits', service.baseUrl), { method: 'POST', headers, body: form, signal });
    };
    const controller = new AbortController();
    const broken = send({ model: 'gpt-image-2', prompt: body.prompt }, controller.signal);
    const [taskId] = await untilTasks(body, 1);
    controller.abort();
    await expect(broken).rejects.toThrow();
    await untilCalls('hung_up_at is not null', taskId!);
    const joining = send({ prompt: body.prompt, model: 'gpt-image-2' });
    await untilCalls('joined_retry > 0 and joined_until > now()', taskId!);
    await service.api.cancel(taskId!);
    expect((await joining).headers.get('task-id')).toBe(taskId);
  });

  it('joins it alone: a second one at the same time is a new task', async () => {
    const body = hanging();
    const taskId = await cut(body);
    const first = call(body);
    await untilCalls('joined_retry > 0', taskId);
    const other = call(body, second);
    const [, otherTask] = await untilTasks(body, 2);
    await service.api.cancel(taskId);
    await service.api.cancel(otherTask!);
    expect([taskIn(await first), taskIn(await other)]).toEqual([taskId, otherTask]);
  });

  it('does not join a call whose connection is open: three at once are three', async () => {
    const body = hanging();
    const calls = [service.api, second, service.api].map((api) => call(body, api));
    const tasks = await untilTasks(body, 3);
    const fourth = call(body);
    const four = await untilTasks(body, 4);
    await Promise.all(four.map((id) => service.api.cancel(id)));
    const answers = await Promise.all([...calls, fourth]);
    expect(answers.map(taskIn).sort()).toEqual(four.toSorted());
    expect(four).toEqual(expect.arrayContaining(tasks));
  });

  it('does not join after 10 minutes, nor with an Idempotency-Key of its own', async () => {
    const body = hanging();
    const taskId = await cut(body);
    const keyed = call(body, service.api, { 'idempotency-key': body.prompt });
    const [, keyedTask] = await untilTasks(body, 2);
    await rows(`update calls set created_at = now() - interval '601 s' where task_id = $1`, taskId);
    const late = call(body);
    const [, , lateTask] = await untilTasks(body, 3);
    for (const id of [taskId, keyedTask!, lateTask!]) await service.api.cancel(id);
    expect([taskIn(await keyed), taskIn(await late)]).toEqual([keyedTask, lateTask]);
  });

  it('gets the same failure for 10 s after the last of them, then a new task', async () => {
    const body = { prompt: `#fail:provider_unavailable ${service.keyId}` };
    const first = await call(body);
    await keepFailure(first);
    for (const api of [second, service.api]) {
      const again = await call(body, api);
      expect([again.status, again.body.error.code, taskIn(again)]).toEqual([
        503,
        'provider_unavailable',
        taskIn(first),
      ]);
      await keepFailure(first);
    }
    await rows(`update calls set failed_until = now() - interval '1 s' where task_id = $1`, taskIn(first));
    expect(taskIn(await call(body))).not.toBe(taskIn(first));
    expect(await tasksOf(body)).toHaveLength(2);
  });

  it("and a retry of OpenAI's client after a failure that cost nothing is a new task", async () => {
    const body = { prompt: `#fail:provider_unavailable retried ${service.keyId}` };
    const first = await call(body, service.api, { 'x-stainless-lang': 'js' });
    await untilCalls('delivered_at is not null', taskIn(first)!); // a retry of an undelivered call would join it
    const retry = await call(body, service.api, { 'x-stainless-lang': 'js', 'x-stainless-retry-count': '1' });
    expect([first.status, retry.status]).toEqual([503, 503]);
    expect(taskIn(retry)).not.toBe(taskIn(first));
  });

  it('is a new task if that of the cut call was cancelled more than 10 s ago', async () => {
    const body = hanging();
    const taskId = await cut(body);
    await service.api.cancel(taskId);
    await rows(`update tasks_done set completed_at = completed_at - interval '11 s' where id = $1`, taskId);
    const late = call(body);
    const [, lateTask] = await untilTasks(body, 2);
    await service.api.cancel(lateTask!);
    expect(taskIn(await late)).toBe(lateTask);
  });

  it('of a task that was cancelled and deleted gets that it was cancelled', async () => {
    const body = hanging();
    const waiting = call(body);
    const [taskId] = await untilTasks(body, 1);
    await service.api.call('DELETE', `/v1/tasks/${taskId}`);
    const first = await waiting;
    await keepFailure(first);
    const answers = [first, await call(body, second)];
    for (const answer of answers) expect([answer.status, answer.body.error.code]).toEqual([422, 'task_cancelled']);
    expect(answers.map(taskIn)).toEqual([taskId, taskId]);
  });

  it('and asked for a stream gets the failure in it', async () => {
    const body = { prompt: `#fail:provider_timeout ${service.keyId}`, stream: true };
    const first = await call(body);
    await keepFailure(first);
    const again = await call(body, second);
    expect(taskIn(again)).toBe(taskIn(first));
    expect(again.text).toContain('"code":"provider_timeout"');
  });
});

import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { END_TASK } from '../../support/moved-task.ts';
import { aHang, Api } from '../../support/clients/api.ts';
import { EventReader } from '../../support/clients/event-reader.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';

/** The longest that a transaction which ends tasks may take is some 10 s (`resume-point.ts`). */
const LATE_S = 6;

/** More ends than the service reads at once. */
const MANY = 10_050;
/** Copies a final task $2 times, as tasks that another process has ended just now and published nothing of. */
const MANY_ENDS = `
  insert into tasks_done
  select (jsonb_populate_record(t, jsonb_build_object('id', 'task_' || lpad(nth::text, 26, '0'), 'completed_at', now()))).*
  from tasks_done t, generate_series(1, $2) nth where t.id = $1`;

/** The statement of an end as another process runs it, on a connection of the test, which decides when it commits. */
const ERROR = '{"code":"content_policy_violation","message":"Refused.","retryable":false}';

describe('an end whose commit lands seconds after its time', () => {
  let service: OwnService;
  let other: pg.Client;
  beforeAll(async () => {
    service = await startOwnService({ ROLE: 'api' });
    other = new pg.Client({ connectionString: service.database.url });
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await service.close();
  });

  async function tenant() {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'k' });
    return { api: new Api(service.baseUrl, body.key), key: body.key };
  }

  /**
   * Starts the late end, then ends another task and reads its event.
   * @returns the position of a client that lacks the late end
   */
  async function positionPast() {
    const { api, key } = await tenant();
    const create = async () => (await api.create(aHang)).body.task_id;
    const [late, prompt, unfinished] = [await create(), await create(), await create()];
    const reader = await EventReader.open(service.baseUrl, '/v1/events', key);
    await other.query('begin');
    await other.query(END_TASK, [late, ERROR]);
    // As if the transaction had begun that long ago.
    await other.query('update tasks_done set completed_at = completed_at - make_interval(secs => $2) where id = $1', [
      late,
      LATE_S,
    ]);
    await api.cancel(prompt);
    await reader.until('the end of the other task', () => reader.of(prompt).some(({ status }) => status === 'failed'));
    const { lastEventId } = reader;
    reader.close();
    expect(reader.of(late).map(({ status }) => status)).toEqual(['queued']);
    return { late, prompt, unfinished, key, lastEventId: lastEventId! };
  }

  it('is sent to a client that resumes after the commit, and nothing else is sent again', async () => {
    const { late, prompt, unfinished, key, lastEventId } = await positionPast();
    await other.query('commit');
    const resumed = await EventReader.open(service.baseUrl, '/v1/events', key, { lastEventId });
    await resumed.until('what follows the ends', () => resumed.of(unfinished).length > 0);
    expect(resumed.of(late).map(({ status }) => status)).toEqual(['failed']);
    expect(resumed.of(prompt)).toEqual([]);
    resumed.close();
  });

  it('is sent to a client that resumes before the commit, although the process that ended the task published nothing', async () => {
    const { late, prompt, key, lastEventId } = await positionPast();
    const resumed = await EventReader.open(service.baseUrl, '/v1/events', key, { lastEventId });
    await resumed.until('the current state', () => resumed.of(late).length > 0);
    await sleep(2_000);
    await other.query('commit');
    await resumed.until('the late end', () => resumed.of(late).some(({ status }) => status === 'failed'));
    expect(resumed.of(prompt).filter(({ status }) => status === 'failed')).toEqual([]);
    resumed.close();
  });

  it('is sent, although more of the same key and of another one end at the same time than are read at once', async () => {
    const [one, greedy] = [await tenant(), await tenant()];
    const { body: late } = await one.api.create(aHang);
    const { body: model } = await greedy.api.create(aHang);
    const reader = await EventReader.open(service.baseUrl, '/v1/events', one.key);
    const watching = await EventReader.open(service.baseUrl, '/v1/events', greedy.key);
    await greedy.api.cancel(model.task_id);
    await watching.until('the end of the model', () =>
      watching.of(model.task_id).some(({ status }) => status === 'failed'),
    );
    await other.query(END_TASK, [late.task_id, ERROR]);
    await other.query(MANY_ENDS, [model.task_id, MANY]);
    const { lastEventId } = watching;
    const resumed = await EventReader.open(service.baseUrl, '/v1/events', greedy.key, { lastEventId: lastEventId! });
    for (const stream of [resumed, watching]) {
      await stream.until('every end', (events) => new Set(events.map(({ data }) => data.task_id)).size >= MANY, 60_000);
      stream.close();
    }
    await reader.until('the end', () => reader.of(late.task_id).some(({ status }) => status === 'failed'));
    reader.close();
  });
});

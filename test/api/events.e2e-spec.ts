import { Agent, EventSource } from 'undici';
import { aCat, aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';

const AMOUNT = 100;
const aVideo = { model: 'sora-2', prompt: 'Waves #delay:1', resolution: '720P', duration: 1 };

describe('event streams', () => {
  let service: SharedService;
  const readers: EventReader[] = [];
  beforeAll(async () => (service = await joinService()));
  afterAll(async () => {
    for (const reader of readers) reader.close();
    await service?.close();
  });
  async function open(path: string, options: { key?: string; lastEventId?: string; paused?: boolean } = {}) {
    const reader = await EventReader.open(service.baseUrl, path, options.key ?? (service.api.key as string), options);
    readers.push(reader);
    return reader;
  }
  async function tenant(settings: object = {}) {
    const { id, key } = await anotherKey(service.api, settings);
    return { id, key, api: new Api(service.baseUrl, key) };
  }

  describe('GET /v1/tasks/{task_id}/events', () => {
    it('sends the current state, rising progress and the end, and then closes', async () => {
      // It waits until it is followed, and runs for a second at least, so that each of its three states is seen.
      const { api, key } = await tenant({ limits: { max_running: 1 } });
      const { body: first } = await api.create(aHang);
      await api.until(first.task_id, 'running');
      const { body } = await api.create(aVideo);
      const reader = await open(`/v1/tasks/${body.task_id}/events`, { key });
      await reader.until('its first state', (events) => events.length > 0);
      await api.cancel(first.task_id);
      expect(reader.reply.status).toBe(200);
      expect(reader.reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(reader.reply.headers.get('cache-control')).toBe('no-store');
      expect(reader.reply.headers.get('x-request-id')).toMatch(/./);
      await reader.ended;

      const states = reader.of(body.task_id);
      expect(states).toHaveLength(reader.events.length);
      expect(states[0]!.status).toBe('queued');
      expect(states.length).toBeGreaterThan(2);
      const progress = states.map((state) => state.progress);
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      const ids = reader.events.map(({ id }) => Number(id));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect(new Set(ids).size).toBe(ids.length);

      const { body: read } = await api.get(`/v1/tasks/${body.task_id}`);
      const withoutLinks = (task: object) =>
        JSON.parse(JSON.stringify(task).replaceAll(/"url(_expires_at)?":("[^"]*"|\d+)/g, '"x":0'));
      expect(withoutLinks(states.at(-1)!)).toEqual(withoutLinks(read));
    });

    it('sends a finished task once', async () => {
      const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
      const reader = await open(`/v1/tasks/${body.task_id}/events`);
      await reader.ended;
      expect(reader.events.map(({ data }) => data)).toEqual([body]);
    });

    it('resumes with newer states only, and answers 204 after the end', async () => {
      const { body } = await service.api.create(aHang);
      await service.api.until(body.task_id, 'running');
      const first = await open(`/v1/tasks/${body.task_id}/events`);
      await first.until('the present state', (events) => events.length === 1);
      const { lastEventId } = first;
      first.close();

      const path = `/v1/tasks/${body.task_id}/events`;
      const second = await open(path, { lastEventId: lastEventId! });
      await service.api.cancel(body.task_id);
      await second.ended;
      expect(second.events.map(({ data }) => data.status)).toEqual(['failed']);

      const past = await open(path, { lastEventId: second.lastEventId! });
      expect(past.reply.status).toBe(204);
      const before = await open(path, { lastEventId: '1' });
      await before.ended;
      expect(before.events).toHaveLength(1);
      const nonsense = await open(path, { lastEventId: 'x7' });
      await nonsense.ended;
      expect(nonsense.events).toHaveLength(1);
    });

    it('works with EventSource: no event name, and 204 stops it', async () => {
      const { body } = await service.api.create({ ...aFailure, prompt: `#delay:0.3 ${aFailure.prompt}` });
      const dispatcher = new Agent().compose(
        (dispatch) => (options, handler) =>
          dispatch(
            { ...options, headers: { ...(options.headers as object), authorization: `Bearer ${service.api.key}` } },
            handler,
          ),
      );
      const source = new EventSource(`${service.baseUrl}/v1/tasks/${body.task_id}/events`, {
        node: { dispatcher, reconnectionTime: 50 },
      } as never);
      const seen: { status: string; lastEventId: string }[] = [];
      source.onmessage = ({ data, lastEventId }) =>
        seen.push({ status: JSON.parse(data as string).status, lastEventId });
      await eventually('the EventSource to stop', async () => source.readyState === EventSource.CLOSED);
      expect(seen.at(-1)!.status).toBe('failed');
      expect(seen.filter(({ status }) => status === 'failed')).toHaveLength(1);
    });

    it('refuses unknown and foreign tasks, missing keys and scopes, and parameters', async () => {
      const code = async (path: string, api: Api) => {
        const { status, body } = await api.get<ErrorBody>(path);
        return [status, body.error.code];
      };
      const { body } = await service.api.create(aFailure);
      const { api } = await tenant();
      const weak = await tenant({ scopes: ['generations:write'] });
      const path = `/v1/tasks/${body.task_id}/events`;
      expect(await code(path, api)).toEqual([404, 'task_not_found']);
      expect(await code('/v1/tasks/nonsense/events', service.api)).toEqual([404, 'task_not_found']);
      expect(await code(path, new Api(service.baseUrl, null))).toEqual([401, 'missing_api_key']);
      expect(await code(path, weak.api)).toEqual([403, 'insufficient_scope']);
      expect(await code('/v1/events', weak.api)).toEqual([403, 'insufficient_scope']);
      expect(await code(`${path}?x=1`, service.api)).toEqual([400, 'unknown_parameter']);
    });

    it('answers HEAD without a stream', async () => {
      const { body } = await service.api.create(aHang);
      for (const path of [`/v1/tasks/${body.task_id}/events`, '/v1/events']) {
        const { status, headers } = await service.api.call('HEAD', path);
        expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
      }
      await service.api.cancel(body.task_id);
    });
  });

  describe('GET /v1/events', () => {
    it('sends the unfinished tasks, then every change, of this key only', async () => {
      const { api, key } = await tenant();
      const hanging = await api.create(aHang);
      await api.until(hanging.body.task_id, 'running');
      const reader = await open('/v1/events', { key });
      await reader.until('the present state', (events) => events.length === 1);
      expect(reader.events[0]!.data).toMatchObject({ task_id: hanging.body.task_id, status: 'running' });
      await service.api.create(aFailure, { prefer: 'wait=30' });
      const next = await api.create(aCat);
      await reader.until('the end of the next', () => reader.of(next.body.task_id).at(-1)?.status === 'succeeded');
      await api.cancel(hanging.body.task_id);
      await reader.until('the cancel', () => reader.of(hanging.body.task_id).at(-1)?.status === 'failed');
      expect(new Set(reader.events.map(({ data }) => data.task_id))).toEqual(
        new Set([hanging.body.task_id, next.body.task_id]),
      );
      for (const { id } of reader.events) expect(id).toMatch(/^[0-9a-z.]+$/);
    });

    it('replays what ended while the reader was away, and nothing that it had received', async () => {
      const { api, key } = await tenant();
      const reader = await open('/v1/events', { key });
      const before = await api.create(aFailure, { prefer: 'wait=30' });
      await reader.until('the first end', () => reader.of(before.body.task_id).at(-1)?.status === 'failed');
      reader.close();

      const away = [];
      for (let at = 0; at < 3; at++) away.push((await api.create(aFailure, { prefer: 'wait=30' })).body.task_id);
      const hanging = await api.create(aHang);
      await api.until(hanging.body.task_id, 'running');

      const back = await open('/v1/events', { key, lastEventId: reader.lastEventId! });
      await back.until('what was missed', (events) => events.length === 4);
      await api.cancel(hanging.body.task_id);
      await back.until('the cancel', (events) => events.length > 4);
      expect(back.events.map(({ data }) => [data.task_id, data.status])).toEqual([
        ...away.map((id) => [id, 'failed']),
        [hanging.body.task_id, 'running'],
        [hanging.body.task_id, 'failed'],
      ]);
    });

    it('resumes a stream that was cut before its first event', async () => {
      const { api, key } = await tenant();
      const reader = await open('/v1/events', { key });
      await eventually('the start of the stream', async () => reader.lastEventId !== undefined);
      reader.close();
      const { body } = await api.create(aFailure, { prefer: 'wait=30' });
      const back = await open('/v1/events', { key, lastEventId: reader.lastEventId! });
      await back.until('the missed end', () => back.of(body.task_id).at(-1)?.status === 'failed');
    });

    it('starts from the current state if Last-Event-ID is not one of its ids', async () => {
      const { api, key } = await tenant();
      await api.create(aFailure, { prefer: 'wait=30' });
      const reader = await open('/v1/events', { key, lastEventId: 'nonsense!' });
      expect(reader.reply.status).toBe(200);
      const next = await api.create(aFailure, { prefer: 'wait=30' });
      await reader.until('the next end', () => reader.of(next.body.task_id).at(-1)?.status === 'failed');
      expect(new Set(reader.events.map(({ data }) => data.task_id))).toEqual(new Set([next.body.task_id]));
      expect(reader.comments).toEqual(['open']);
    });

    it('sends every end to a reader that had paused', async () => {
      const { api, key } = await tenant();
      const reader = await open('/v1/events', { key, paused: true });
      // Three states of each are more than the buffers between the two ends hold.
      const prompt = `${aFailure.prompt} ${'x'.repeat(30_000)}`;
      const batches = new BatchClient(api);
      const { id } = await batches.of(Array.from({ length: AMOUNT }, () => ({ ...aFailure, prompt })));
      await batches.untilEnded(id);
      reader.resume();
      const ends = () => reader.events.filter(({ data }) => data.status === 'failed').map(({ data }) => data.task_id);
      await reader.until('every end', () => ends().length === AMOUNT);
      expect(new Set(ends()).size).toBe(AMOUNT);
    });

    it('ends when its key is revoked', async () => {
      const { id, key } = await tenant();
      const reader = await open('/v1/events', { key });
      await service.api.call('DELETE', `/v1/api_keys/${id}`);
      await reader.ended;
    });
  });
});

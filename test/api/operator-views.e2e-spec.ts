import { OBJECTIVES } from '../../src/operations/activity/objectives.ts';
import { ProviderRegistry } from '../../src/providers/registry.ts';
import { ProviderError } from '../../src/providers/contract/provider.ts';
import { QueueSamplerWorker } from '../../src/operations/tasks/queue-sampler.worker.ts';
import { QueueSamples } from '../../src/operations/tasks/sql/queue-samples.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aCat, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

interface Place {
  place: number;
  provider: string;
  models: { model: string }[];
  circuit_open_in: string[];
  pauses: string[];
}

interface Minute {
  minute: number;
  waiting: number | null;
}

interface KeyRow {
  api_key_id: string;
  refused_last_hour: number;
  failed_last_hour: number;
}

describe('what operators see', () => {
  let service: InProcess;

  beforeAll(async () => {
    service = await startInProcess({ PROVIDER_KEY: 'secret-value' });
  });
  afterAll(() => service.close());

  it('of the service: queues, processes, rates', async () => {
    const { body: task } = await service.api.create({ ...aHang, metadata: { note: 'lighthouse' } });
    await service.api.until(task.task_id, 'running');
    await eventually('the task in the overview', async () => {
      const { body, text } = await service.api.get<{ queue: { model: string; running: number }[] }>('/v1/operations');
      expect(text).not.toContain('lighthouse');
      return body.queue[0]?.running === 1 && body.queue[0].model === 'gpt-image-2';
    });
    await eventually('the process in the overview', async () => {
      const { body } = await service.api.get<{ processes: Record<string, number> }>('/v1/operations');
      return body.processes.live === 1;
    });
    const { body } = await service.api.get<{ object: string; checks: object; version: string }>('/v1/operations');
    expect(body).toMatchObject({ object: 'operations', checks: { database: 'ok', queue: 'ok' } });
    const keys = await service.api.get<{ data: object[] }>('/v1/operations/keys');
    expect(keys.body.data).toMatchObject([{ name: 'BOOTSTRAP_API_KEY', running: 1, queued: 0, max_running: 50 }]);
    await service.api.cancel(task.task_id);
  });

  it('of the past: a row a minute, whoever writes it, and nulls where there is none', async () => {
    const samples = service.app.get(QueueSamples, { strict: false });
    const ask = <Row>(sql: string) => queryOnce<Row>(service.database.url, sql);
    await service.app.get(QueueSamplerWorker, { strict: false }).onApplicationShutdown(); // so that only this test takes samples
    // All of it in one minute.
    const secondS = async () => Number((await ask<{ s: string }>('select extract(second from now()) as s'))[0]!.s);
    await eventually('a minute that goes on', async () => (await secondS()) < 40);
    await ask('delete from queue_samples');
    await ask(
      `insert into queue_samples select date_trunc('minute', now()) - n * interval '1 minute', n, 0, 1 from unnest(array[2, 1439, 1440]) n`,
    );
    const { body: task } = await service.api.create(aHang);
    await service.api.until(task.task_id, 'running');
    await Promise.all([samples.take(), samples.take(), samples.take()]);
    await service.api.cancel(task.task_id);
    await samples.take();
    const rows = await ask<{ waiting: number; running: number }>('select * from queue_samples order by minute');
    // The oldest is a day old. A minute may have passed since.
    expect(rows.slice(0, 3)).toMatchObject([{ waiting: 1439 }, { waiting: 2 }, { waiting: 0, running: 1 }]);
    expect(rows.length).toBeLessThan(5);

    const { body } = await service.api.get<{ data: Minute[] }>('/v1/operations/queue_history?minutes=1440');
    expect(body).toMatchObject({ object: 'list', has_more: false });
    expect(body.data).toHaveLength(1_440);
    expect(new Set(body.data.slice(1).map(({ minute }, index) => minute - body.data[index]!.minute))).toEqual(
      new Set([60]),
    );
    const at = body.data.findIndex(({ waiting }) => waiting === 2);
    expect(body.data.slice(at, at + 3)).toMatchObject([
      { waiting: 2, parked: 0, running: 1 },
      { waiting: null, parked: null, running: null },
      { waiting: 0, parked: 0, running: 1 },
    ]);
    expect((await service.api.get<{ data: Minute[] }>('/v1/operations/queue_history')).body.data).toHaveLength(60);
    const query = '{ operations { all: queueHistory { minute } few: queueHistory(minutes: 2) { minute waiting } } }';
    const { data } = (await service.api.call<{ data: { operations: Record<string, Minute[]> } }>('POST', '/graphql', { query })).body; // prettier-ignore
    expect([data.operations.all!.length, data.operations.few!.length]).toEqual([60, 2]);
  });

  it.each(['0', '1441', '1.5', 'x'])('but no history of %s minutes', async (minutes) => {
    const rest = await service.api.get<ErrorBody>(`/v1/operations/queue_history?minutes=${minutes}`);
    expect([rest.status, rest.body.error.param]).toEqual([400, 'minutes']);
    if (!/^\d+$/.test(minutes)) return;
    const query = `{ operations { queueHistory(minutes: ${minutes}) { minute } } }`;
    const { body } = await service.api.call<{ errors: { extensions: object }[] }>('POST', '/graphql', { query });
    expect(body.errors).toMatchObject([{ extensions: { code: 'value_out_of_range', param: 'minutes' } }]);
  });

  const places = async () => (await service.api.get<{ data: Place[] }>('/v1/operations/providers')).body.data;

  it('of the providers: places, models, circuits, pauses', async () => {
    const [place] = await places();
    expect(place).toMatchObject({ place: 1, provider: 'sandbox', circuit_open_in: [], pauses: [] });
    expect(place!.models.map(({ model }) => model)).toContain('gpt-image-2');
    const pause = await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', { place: 1, reason: 'x' });
    expect((await places())[0]!.pauses).toEqual([pause.body.id]);
    await service.api.call('DELETE', `/v1/operations/pauses/${pause.body.id}`);
    expect((await places())[0]!.pauses).toEqual([]);
  });

  it('and close the circuits of a place', async () => {
    const { circuit } = service.app.get(ProviderRegistry).places[0]!;
    const fail = () => Promise.reject(new ProviderError('provider_unavailable', { billing: 'none' }));
    for (let nth = 0; nth < 5; nth += 1) await circuit.execute(fail).catch(() => undefined);
    expect(circuit.isOpen).toBe(true);
    const closed = await service.api.call<Place>('POST', '/v1/operations/providers/1/close_circuit', {
      reason: 'It is back.',
    });
    expect([closed.status, closed.body.circuit_open_in]).toEqual([200, []]);
    expect(circuit.isOpen).toBe(false);
    const audit = await service.api.get<{ data: object[] }>('/v1/operations/audit_events?action=circuit.reset');
    expect(audit.body.data).toMatchObject([
      { target_type: 'provider_place', target_id: '1', after: { reason: 'It is back.' } },
    ]);
    for (const place of ['0', '2', 'x', '%00']) {
      const unknown = await service.api.call<ErrorBody>('POST', `/v1/operations/providers/${place}/close_circuit`);
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'place_not_found']);
    }
  });

  it('what happened in the last hour: rates, objectives, providers, keys', async () => {
    const { id, key } = await anotherKey(service.api, { limits: { reads_per_minute: 2 } });
    const limited = new Api(service.baseUrl, key);
    await limited.create({ ...aCat, prompt: '#fail:provider_unavailable' }, { prefer: 'wait=30' });
    await limited.create(aCat, { prefer: 'wait=30' });
    for (let nth = 0; nth < 3; nth += 1) await limited.get('/v1/models');

    interface Overview {
      rates: { created: number; ended: number };
      objectives: { name: string; events: number; bad: number; state: string; objective: number }[];
      [field: string]: unknown;
    }
    const overview = await eventually('the process to publish what it has counted', async () => {
      const { body } = await service.api.get<Overview>('/v1/operations');
      return body.rates.ended >= 2 && body;
    });
    expect(overview.rates.created).toBeGreaterThanOrEqual(2);
    expect(overview.objectives.map(({ name }) => name)).toEqual(OBJECTIVES.map(({ name }) => name));
    const requests = overview.objectives[0]!;
    expect(requests).toMatchObject({ objective: 0.999, bad: 0, burn_rate: 0 });
    expect(requests.events).toBeGreaterThan(5);
    expect(overview).toMatchObject({
      places: { total: 50 },
      storage: 'disk',
      bus: { kind: 'postgres', connected: true },
      known_migration: overview.migration,
      log_levels: { log_level: null },
    });
    const { max, used } = overview.database_connections as Record<string, number>;
    expect(max).toBeGreaterThan(0);
    expect(used).toBeLessThanOrEqual(max!);

    // Each part is counted at its own moment, so a report may hold one of them and not yet another.
    const place = await eventually('both runs in the view of the place', async () => {
      const { body } = await service.api.get<{ data: { models: { model: string }[]; error_share: number | null }[] }>(
        '/v1/operations/providers',
      );
      const [first] = body.data;
      return first!.error_share !== null && first!.error_share > 0 && first!.error_share < 1 && first!;
    });
    expect(place).toMatchObject({ credential_present: true });
    expect(place.models.find(({ model }) => model === aCat.model)).toMatchObject({
      position: 1,
      failed_last_hour: 1,
      last_error_code: 'provider_unavailable',
    });
    await eventually('the refused read and the failure in the view of the key', async () => {
      const { body } = await service.api.get<{ data: KeyRow[] }>('/v1/operations/keys');
      const row = body.data.find(({ api_key_id }) => api_key_id === id);
      if (!row?.refused_last_hour || !row.failed_last_hour) return false;
      expect(row).toMatchObject({
        queued: 0,
        oldest_waiting_s: null,
        reads_per_minute: 2,
        refused_last_hour: 1,
        failed_last_hour: 1,
        name: 'another',
      });
      return true;
    });
  });
});

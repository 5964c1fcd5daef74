import { ProviderRegistry } from '../../src/providers/registry.ts';
import { ProviderError } from '../../src/providers/provider.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { aHang, type ErrorBody } from '../support/clients/api.ts';
import { eventually } from '../support/wait.ts';

interface Place {
  place: number;
  provider: string;
  models: { model: string }[];
  circuit_open_in: string[];
  pauses: string[];
}

describe('what operators see', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startApp({ PROVIDER_KEY: 'secret-value' });
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
    const closed = await service.api.call<Place>('POST', '/v1/operations/providers/1/close_circuit');
    expect([closed.status, closed.body.circuit_open_in]).toEqual([200, []]);
    expect(circuit.isOpen).toBe(false);
    const audit = await service.api.get<{ data: object[] }>('/v1/operations/audit_events?action=circuit.reset');
    expect(audit.body.data).toMatchObject([{ target_type: 'provider_place', target_id: '1' }]);
    for (const place of ['0', '2', 'x', '%00']) {
      const unknown = await service.api.call<ErrorBody>('POST', `/v1/operations/providers/${place}/close_circuit`);
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'place_not_found']);
    }
  });
});

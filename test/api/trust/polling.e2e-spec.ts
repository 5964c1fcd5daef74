// Own settings: films at a stub that are polled, few places, and few polled runs.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import sharp from 'sharp';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { aFailure, Api } from '../../support/clients/api.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { eventually } from '../../support/wait.ts';

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };

async function keyOf(service: OwnService): Promise<Api> {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'k' });
  return new Api(service.baseUrl, body.key);
}

describe('films that are only polled', () => {
  const ark = new ArkStub();
  let service: OwnService;
  const start = async (settings: Record<string, string>) => {
    service = await startOwnService({
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      PROVIDER_POLL_INTERVAL_MS: '50',
      TASK_DEADLINE_VIDEO_S: '60',
      ...settings,
    });
  };
  beforeAll(async () => {
    await ark.start();
    ark.real = true;
    await start({ WORKER_CONCURRENCY: '3' });
  });
  beforeEach(() => (ark.steps = { queued: 1_000_000, running: 1 }));
  afterAll(async () => {
    await service?.close();
    await ark.stop();
  });

  it('have no place: with twice as many as places, a picture of any key ends before them', async () => {
    const before = ark.submits;
    const [filming, other] = [await keyOf(service), await keyOf(service)];
    const films = await Promise.all(Array.from({ length: 6 }, () => filming.create(aFilm)));
    await eventually('the submits', async () => ark.submits === before + 6);
    for (const api of [other, filming]) {
      await api.untilFinal((await api.create(aFailure)).body.task_id);
    }
    ark.steps = { queued: 1, running: 1 };
    for (const { body } of films) expect(await filming.untilFinal(body.task_id)).toMatchObject({ status: 'succeeded' });
    expect(ark.submits).toBe(before + 6);
  });

  it('need no room for their reference images', async () => {
    const png = await sharp({ create: { width: 512, height: 512, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const server = createServer((_request, response) => response.end(png)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const before = ark.submits;
    const key = await keyOf(service);
    const { body } = await key.create({ ...aFilm, reference_image_url: `http://127.0.0.1:${port}/1.png` });
    await eventually('the submit', async () => ark.submits === before + 1);
    await eventually('the release', async () =>
      (await service.api.get('/metrics')).text.includes('darkroom_reference_image_bytes_reserved 0\n'),
    );
    server.close();
    ark.steps = { queued: 1, running: 1 };
    expect(await key.untilFinal(body.task_id)).toMatchObject({ status: 'succeeded' });
  });

  it('are bounded: further ones keep their place', async () => {
    await service.close();
    await start({ WORKER_CONCURRENCY: '5', WORKER_POLLED_RUNS: '2' });
    const before = ark.submits;
    const key = await keyOf(service);
    const films = await Promise.all(Array.from({ length: 10 }, () => key.create(aFilm)));
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    const running = async () =>
      (await client.query<{ n: number }>(`select count(*)::int as n from tasks where status = 'running'`)).rows[0]!.n;
    await eventually('the bound', async () => ark.submits >= before + 6);
    // The reserved place has claimed this one after them, so nothing more is claimed.
    const other = await keyOf(service);
    await other.untilFinal((await other.create(aFailure)).body.task_id);
    const count = await running();
    await client.end();
    for (const { body } of films) await key.cancel(body.task_id);
    // Two that poll, and four of five places: the fifth is reserved for other keys.
    expect(count).toBe(6);
  });
});

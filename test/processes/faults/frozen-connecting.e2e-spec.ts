import { FaultFleet, SHORT_TIMES } from '../../support/faults/fleet.ts';
import { queryOnce, type TaskRow } from '../../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { eventually } from '../../support/wait.ts';

/** Loaded into a worker: stops it once, just before it opens its first connection to the upstream at this port. */
const stopAtFirstConnection = (port: string): string => `
  import { subscribe } from 'node:diagnostics_channel';
  let isFirst = true;
  subscribe('undici:client:beforeConnect', ({ connectParams }) => {
    if (!isFirst || connectParams.port !== '${port}') return;
    isFirst = false;
    process.stdout.write('stops itself\\n', () => {});
    process.kill(process.pid, 'SIGSTOP');
  });`;

describe('a worker that is frozen while it connects for a paid call', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  const ark = new ArkStub();
  beforeAll(async () => {
    database = await cloneDatabase();
    await ark.start();
    await ark.prepare(4);
    fleet = await FaultFleet.on(database.url, {
      ...SHORT_TIMES,
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
    });
  });
  afterAll(async () => {
    await fleet?.end();
    await ark.stop();
    await database.drop();
  });

  it('does not make the call once another worker has made it', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(stopAtFirstConnection(new URL(ark.baseUrl).port))}`;
    const [api, frozen] = await Promise.all([
      fleet.add('api'),
      fleet.add('worker', { NODE_OPTIONS: `--import=${preload}` }),
    ]);
    const film = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
    const id = (await fleet.clientOf(api).create(film)).body.task_id;
    await eventually('the worker to stop', async () => frozen.service.output().includes('stops itself'));
    await fleet.add('worker');
    const read = async () => (await queryOnce<TaskRow>(database.url, 'select * from tasks where id = $1', [id]))[0]!;
    await eventually('the other worker to make the call', async () => (await read()).upstream_id !== null);
    fleet.resume(frozen);
    await eventually('the first worker to notice', async () =>
      frozen.service.output().includes('"event":"lease.lost"'),
    );
    await eventually('the end of the task', async () => (await read()).completed_at !== null);
    expect(await read()).toMatchObject({ status: 'succeeded', attempt: 2 });
    expect(ark.submits).toBe(1);
  });
});

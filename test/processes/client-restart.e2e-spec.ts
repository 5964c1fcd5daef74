import { Darkroom, type Task } from '../../packages/client/src/node.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

describe('the client of a service that restarts', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let service: ServiceProcess;
  beforeAll(async () => {
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, { TASK_LEASE_S: '3', TASK_HEARTBEAT_S: '1', TASK_SWEEP_S: '1' }));
    service = await spawnService(env);
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await database.drop();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('waits through %s and gets the result', async (signal) => {
    const darkroom = new Darkroom({ baseUrl: env.PUBLIC_URL!, apiKey: env.BOOTSTRAP_API_KEY! });
    const run = await darkroom.generate({ model: 'gpt-image-2', prompt: '#delay:2 A cat' });
    const states: Task[] = [];
    const done = run.wait({ onProgress: (_, state) => states.push(state) });
    await eventually('a state', async () => states.length > 0);
    await service.kill(signal);
    service = await spawnService(env);
    const task = await done;
    expect([task.status, task.outputs.length]).toEqual(['succeeded', 1]);
    expect(states.map(({ progress }) => progress)).toEqual(
      states.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
  });
});

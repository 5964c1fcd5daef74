import { Darkroom, type Task } from '../../src/client/node.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { freePort } from '../support/free-port.ts';
import { spawnService } from '../support/process.ts';

describe('the client of a service that restarts', () => {
  let beside: OwnService;
  let env: Record<string, string>;
  beforeAll(async () => {
    beside = await startOwnService({ ROLE: 'api' });
    const port = String(await freePort());
    env = { ...beside.env, ROLE: 'all', PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  });
  afterAll(() => beside.close());

  it.each(['SIGTERM', 'SIGKILL'] as const)('waits through %s and gets the result', async (signal) => {
    const first = await spawnService({ ...env, TASK_LEASE_S: '3', TASK_HEARTBEAT_S: '1', TASK_SWEEP_S: '1' });
    const darkroom = new Darkroom({ baseUrl: env.PUBLIC_URL!, apiKey: env.BOOTSTRAP_API_KEY! });
    const run = await darkroom.generate({ model: 'gpt-image-2', prompt: '#delay:4 A cat' });
    const states: Task[] = [];
    const done = run.wait({ onProgress: (_, state) => states.push(state) });
    await until(() => states.length > 0);
    await first.kill(signal);
    const second = await spawnService(env);
    const task = await done;
    await second.kill('SIGTERM');
    expect([task.status, task.outputs.length]).toEqual(['succeeded', 1]);
    expect(states.map(({ progress }) => progress)).toEqual(
      states.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

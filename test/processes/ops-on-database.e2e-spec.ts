import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testEnv } from '../support/test-env.ts';
import { aCat, aHang } from '../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

const DARKROOM = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

interface Task {
  task_id: string;
  status: string;
  worker_id: string;
  attempt: number;
  error_code: string | null;
  waiting_for: string | null;
}

describe('darkroom ops --database', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let env: Record<string, string>;
  let worker: ServiceProcess;

  beforeAll(async () => {
    database = await cloneDatabase();
    receiver = await Receiver.start();
    ({ env } = await testEnv(database.url, { ROLE: 'api' }));
    worker = await spawnService({ ...env, ROLE: 'worker', PORT: String(await freePort()) });
  });
  afterAll(async () => {
    await worker?.kill('SIGKILL');
    await receiver.stop();
    await database.drop();
  });

  /** With the configuration of the service and without a key. */
  const run = async (...args: string[]): Promise<string> => {
    const own = { PATH: process.env.PATH, HOME: process.env.HOME, ...env, BOOTSTRAP_API_KEY: '' };
    const options = { env: own, cwd: env.DATA_DIR!, timeout: 60_000 };
    return (await promisify(execFile)(process.execPath, [DARKROOM, 'ops', ...args, '--database'], options)).stdout;
  };
  const json = async <Answer>(...args: string[]) => JSON.parse(await run(...args, '--json')) as Answer;

  it('sees and acts while no process serves the API', async () => {
    const api = await spawnService(env);
    await api.api.call('POST', '/v1/webhook_endpoints', { url: receiver.url });
    const { body: first } = await api.api.create(aHang);
    const { body: second } = await api.api.create(aHang);
    for (const { task_id } of [first, second]) await api.api.until(task_id, 'running');
    await api.kill('SIGKILL');

    const running = await json<Task[]>('tasks', '--state', 'running');
    expect(running.map(({ task_id }) => task_id)).toEqual([first.task_id, second.task_id]);
    const { worker_id: workerId, attempt } = running[0]!;
    expect(await run('status')).toMatch(/gpt-image-2/);
    expect(await run('task', first.task_id)).toMatch(/worker_id +\S+[\s\S]*queued[\s\S]*started/);

    expect(await run('cancel', first.task_id)).toMatch(/task_cancelled/);
    const failed = await json<Task>('fail', second.task_id, 'provider_unavailable');
    expect(failed).toMatchObject({ status: 'failed', error_code: 'provider_unavailable' });
    expect(attempt).toBe(1);
    await eventually('the webhooks, which the worker sends', async () => receiver.received.length === 2);
    expect(receiver.received.map(({ event }) => event.data.task_id).toSorted()).toEqual([
      first.task_id,
      second.task_id,
    ]);

    expect(await run('drain', workerId)).toContain(workerId);
    await eventually('the worker to be drained', async () => /drained/.test(await run('processes')), 30_000);
    expect(await run('resume', workerId)).toContain(workerId);
    await expect(run('drain', 'nobody')).rejects.toThrow('No process of the service has this id.');
    await expect(run('fail', second.task_id, 'no_such_code')).rejects.toThrow('code must be one of');
    expect((await json<{ role: string }[]>('processes')).map(({ role }) => role)).not.toContain('all');
  });

  it('pauses and ends a pause, releases, and leaves its name in the audit', async () => {
    const pause = await json<{ id: string; created_by: null }>('pause', '--model', 'gpt-image-2', '--reason', 'x');
    expect(pause.created_by).toBeNull();
    expect((await json<{ id: string }[]>('pauses')).map(({ id }) => id)).toEqual([pause.id]);
    expect((await json<{ pauses: number }>('status')).pauses).toBe(1);

    const api = await spawnService(env);
    const { body: held } = await api.api.create(aCat);
    const { body: film } = await api.api.create({ model: 'seedance-2', prompt: 'A river #hang' });
    await api.api.until(film.task_id, 'running');
    await api.kill('SIGKILL');
    await eventually(
      'the task to be held',
      async () => (await json<Task[]>('tasks', '--state', 'paused')).length === 1,
    );
    expect(await run('unpause', pause.id)).toContain('The pause has ended.');
    await eventually('the task', async () => (await json<Task>('task', held.task_id)).status === 'succeeded', 30_000);

    const { attempt } = await json<Task>('task', film.task_id); // a worker may have taken it over since the process was killed
    const released = await json<Task>('release', film.task_id);
    expect(released.status).toBe('running');
    expect(released.attempt).toBeGreaterThan(attempt);
    await run('cancel', film.task_id);

    const own = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
    const { stdout } = await promisify(execFile)(process.execPath, [DARKROOM, 'audit', '--json', '--limit', '50'], {
      env: own,
      cwd: env.DATA_DIR!,
    });
    const events = JSON.parse(stdout) as { action: string; actor_type: string }[];
    for (const action of ['pause.created', 'pause.ended', 'tasks.released', 'process.drain_requested']) {
      expect(events.find((event) => event.action === action)).toMatchObject({ actor_type: 'command_line' });
    }
  });
});

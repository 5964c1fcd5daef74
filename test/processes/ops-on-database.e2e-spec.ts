// The command runs in this process, which loads the service once instead of for each of the twenty commands.
import { jest } from '@jest/globals';
import { opsCommand } from '../../src/cli/commands/ops.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aHang } from '../support/clients/api.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

interface Task {
  task_id: string;
  status: string;
  attempt: number;
  error_code: string | null;
}

describe('darkroom ops --database, while no process serves the API', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let env: Record<string, string>;
  let worker: ServiceProcess;
  let pause: { id: string; created_by: null };
  /** What was made before the API was killed. */
  let first: string;
  let second: string;
  let film: string;
  let held: string;

  beforeAll(async () => {
    database = await cloneDatabase();
    receiver = await Receiver.start();
    ({ env } = await testEnv(database.url, { ROLE: 'api' }));
    const [front, back] = await allReady([
      spawnService(env),
      freePort().then((port) => spawnService({ ...env, ROLE: 'worker', PORT: String(port) })),
    ]);
    worker = back;
    const { api } = front;
    await api.call('POST', '/v1/webhook_endpoints', { url: receiver.url });
    const make = async (body: object) => (await api.create(body)).body.task_id;
    [first, second, film] = [
      await make(aHang),
      await make(aHang),
      await make({ model: 'seedance-2', prompt: '#hang' }),
    ];
    for (const id of [first, second, film]) await api.until(id, 'running');
    pause = await json('pause', '--model', 'gpt-image-2', '--reason', 'x');
    held = await make(aCat);
    await front.kill('SIGKILL');
  });
  afterAll(async () => {
    await worker?.kill('SIGKILL');
    await receiver.stop();
    await database.drop();
  });

  /** With the configuration of the service and without a key. */
  const run = async (...args: string[]): Promise<string> => {
    const printed: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: unknown) => void printed.push(String(line)));
    const given = { ...process.env };
    Object.assign(process.env, env, { BOOTSTRAP_API_KEY: '' });
    try {
      const command = opsCommand();
      for (const each of [command, ...command.commands])
        each.exitOverride().configureOutput({ writeErr: () => undefined });
      await command.parseAsync([...args, '--database'], { from: 'user' });
    } finally {
      log.mockRestore();
      process.env = given;
    }
    return printed.join('\n');
  };
  const json = async <Answer>(...args: string[]) => JSON.parse(await run(...args, '--json')) as Answer;
  const statusOf = async (id: string) =>
    (await queryOnce<{ status: string }>(database.url, 'select status from tasks where id = $1', [id]))[0]!.status;

  it('sees tasks, processes and pauses', async () => {
    const running = await json<Task[]>('tasks', '--state', 'running');
    const paused = await json<Task[]>('tasks', '--state', 'paused');
    const status = await json<{ pauses: number }>('status');
    const task = await run('task', first);
    const pauses = await json<{ id: string }[]>('pauses');
    const processes = await json<{ role: string }[]>('processes');
    expect(running.map(({ task_id, attempt }) => [task_id, attempt])).toEqual(
      [first, second, film].map((id) => [id, 1]),
    );
    expect(paused.map(({ task_id }) => task_id)).toEqual([held]);
    expect(status.pauses).toBe(1);
    expect(task).toMatch(/worker_id +\S+[\s\S]*queued[\s\S]*started/);
    expect([pause.created_by, pauses.map(({ id }) => id)]).toEqual([null, [pause.id]]);
    expect(processes.map(({ role }) => role)).not.toContain('all');
  });

  it('cancels, fails and releases tasks, and the worker sends the webhooks', async () => {
    const cancelled = await run('cancel', first);
    const failed = await json<Task>('fail', second, 'provider_unavailable');
    const released = await json<Task>('release', film);
    expect(cancelled).toMatch(/task_cancelled/);
    expect(failed).toMatchObject({ status: 'failed', error_code: 'provider_unavailable' });
    expect([released.status, released.attempt]).toEqual(['running', 2]);
    const told = () => receiver.received.map(({ event }) => event.data.task_id).toSorted();
    await eventually('the webhooks', async () => told().length === 2);
    expect(told()).toEqual([first, second].toSorted());
  });

  it('ends a pause, and lets a worker drain and resume', async () => {
    // The built command, once.
    const unpaused = await darkroom(['ops', 'unpause', pause.id, '--database'], { ...env, BOOTSTRAP_API_KEY: '' });
    expect(unpaused).toMatchObject({ code: 0, out: expect.stringContaining('The pause has ended.') });
    await eventually('the task to be made', async () => (await statusOf(held)) === 'succeeded');
    await run('cancel', film);
    const [{ id }] = (await queryOnce<{ id: string }>(
      database.url,
      `select id from processes where role = 'worker'`,
    )) as [{ id: string }];
    expect(await run('drain', id, '--reason', 'its disk')).toContain(id);
    const why = `select after->>'reason' as reason from audit_events where action = 'process.drain_requested'`;
    expect(await queryOnce(database.url, why)).toEqual([{ reason: 'its disk' }]);
    const isDraining = 'select 1 from processes where id = $1 and draining and busy = 0';
    await eventually('the worker to drain', async () => (await queryOnce(database.url, isDraining, [id])).length === 1);
    expect(await run('processes')).toMatch(/drained/);
    expect(await run('resume', id)).toContain(id);
  });

  it('refuses what is not there, and leaves its name in the audit', async () => {
    await expect(run('drain', 'nobody')).rejects.toThrow('No process of the service has this id.');
    await expect(run('fail', second, 'no_such_code')).rejects.toThrow('code must be one of');
    const { out } = await darkroom(['audit', '--json', '--limit', '50'], env);
    const events = JSON.parse(out) as { action: string; actor_type: string }[];
    for (const action of ['pause.created', 'pause.ended', 'tasks.released', 'process.drain_requested']) {
      expect(events.find((event) => event.action === action)).toMatchObject({ actor_type: 'command_line' });
    }
  });
});

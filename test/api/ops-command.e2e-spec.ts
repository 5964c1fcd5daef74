// Own service: it is drained, and nothing else may be stuck or paused.
import { jest } from '@jest/globals';
import { opsCommand } from '../../src/cli/commands/ops.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat, aHang } from '../support/clients/api.ts';
import { eventually } from '../support/wait.ts';

describe('darkroom ops', () => {
  let service: OwnService;

  beforeAll(async () => {
    service = await startOwnService();
  });
  afterAll(() => service.close());

  /** Runs the command in this process. @returns what it prints */
  const ops = async (...args: string[]) => {
    const printed: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line: unknown) => void printed.push(String(line)));
    try {
      const command = opsCommand();
      for (const each of [command, ...command.commands])
        each.exitOverride().configureOutput({ writeErr: () => undefined });
      await command.parseAsync([...args, '--url', service.baseUrl, '--key', service.api.key!], { from: 'user' });
    } finally {
      log.mockRestore();
    }
    return printed.join('\n');
  };
  const json = async <Answer>(...args: string[]) => JSON.parse(await ops(...args, '--json')) as Answer;

  it('is enough for an evening: find the task, see why, drain, pause, resume, replay', async () => {
    const { body: task } = await service.api.create(aHang);
    await service.api.until(task.task_id, 'running');

    expect(await ops('status')).toMatch(/live[\s\S]*gpt-image-2/);
    const [running] = await json<{ task_id: string; worker_id: string }[]>('tasks', '--state', 'running');
    expect(running?.task_id).toBe(task.task_id);
    expect(await ops('task', task.task_id)).toMatch(
      /worker_id +\S+[\s\S]*created_at +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ[\s\S]*queued[\s\S]*started/,
    );
    expect(await ops('tasks', '--state', 'stuck')).toBe('There are none.');

    const processId = running!.worker_id;
    expect(await ops('drain', processId, '--reason', 'its disk')).toMatch(/draining/);
    expect(await ops('cancel', task.task_id)).toMatch(/task_cancelled/);
    await eventually('drained', async () => /drained/.test(await ops('processes')));

    expect(await ops('providers')).toMatch(/sandbox/);
    const pause = await json<{ id: string }>(
      'pause',
      '--provider',
      'sandbox',
      '--reason',
      'an incident',
      '--until',
      '2h',
    );
    expect(await ops('resume', processId)).toMatch(/drain_requested[\s\S]* false /);
    const { body: held } = await service.api.create(aCat);
    await eventually('the task to be held', async () => /pause/.test(await ops('tasks', '--state', 'paused')));
    expect(await ops('pauses')).toContain('an incident');
    expect(await ops('unpause', pause.id, '--reason', 'it is over')).toBe('The pause has ended.');
    await service.api.until(held.task_id, 'succeeded');

    const replay = await json<{ id: string; total: number }>('replay', '--since', '1h');
    expect(replay.total).toBe(0);
    await eventually('the replay to complete', async () => /completed/.test(await ops('replays')));
    expect(await ops('keys')).toBe('There are none.');

    const { body } = await service.api.get<{ data: { action: string; after: object | null }[] }>(
      '/v1/operations/audit_events',
    );
    const kept = Object.fromEntries(body.data.map(({ action, after }) => [action, after]));
    expect(kept).toMatchObject({
      'process.drain_requested': { drain_requested: true, reason: 'its disk' },
      'pause.created': { reason: 'an incident' },
      'pause.ended': { reason: 'it is over' },
    });
    expect([kept['tasks.cancelled'], kept['process.resumed']]).toEqual([{}, { drain_requested: false }]);
  });

  it('fails with the reason when an act was refused, and without a reason for a pause', async () => {
    await expect(ops('drain', 'nobody')).rejects.toMatchObject({
      code: 'process_not_found',
      message: 'No process of the service has this id.',
    });
    await expect(ops('pause', '--model', 'sora-2')).rejects.toThrow('--reason');
  });
});

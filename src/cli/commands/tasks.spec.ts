import { jest } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tasksCommand } from './tasks.ts';

const ID = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';
const TASK = { task_id: ID, progress: 0, model: 'sora-2', created_at: 0, input: { prompt: 'a film' } };

let answer: object;
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
afterEach(() => jest.restoreAllMocks());

async function shown(task: object): Promise<string> {
  answer = { ...TASK, ...task };
  const print = jest.spyOn(console, 'log').mockImplementation(() => undefined);
  await tasksCommand().parseAsync(['get', ID, '--url', url, '--key', 'dr_test'], { from: 'user' });
  return String(print.mock.calls[0]![0]);
}

describe('darkroom tasks get', () => {
  it('says why a task failed, and whether it may succeed', async () => {
    const error = { code: 'provider_timeout', message: 'The provider did not answer in time.', retryable: true };
    expect((await shown({ status: 'failed', error })).split('\n').slice(2)).toEqual([
      '',
      `provider_timeout: The provider did not answer in time. It may succeed: npx darkroom tasks retry ${ID}`,
    ]);
  });

  it('shows the row alone of any other', async () => {
    expect((await shown({ status: 'running' })).split('\n')).toHaveLength(2);
  });
});

import type { CallToolResult } from '@modelcontextprotocol/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnService, startOwnService } from '../../support/service.ts';
import type { TaskBody } from '../../support/clients/api.ts';
import { mcpClient, taskOf } from '../../support/clients/mcp.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';

/** Longer than a task that nobody waits for is left alone. */
const PAST_GRACE_MS = 12_000;

/** Two API processes; the first also runs tasks, one at a time. */
let services: OwnService[];
beforeAll(async () => {
  const first = await startOwnService({ MAX_RUNNING_PER_KEY: '1' });
  services = [first, await startSecond(first)];
});
afterAll(async () => {
  for (const service of services.toReversed()) await service.close();
});

/** Beside the first: the same database and secret, another port. */
async function startSecond(first: OwnService): Promise<OwnService> {
  const { DATABASE_URL: _url, PORT: _port, PUBLIC_URL: _publicUrl, ...env } = first.env;
  return startOwnService({ ...env, ROLE: 'api' }, first.database);
}

const call = (service: OwnService, name: string, given: object, signal?: AbortSignal) =>
  fetch(new URL('/mcp', service.baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.api.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
    ...(signal && { signal }),
  });

const resultOf = async (response: Response): Promise<CallToolResult> => {
  const line = (await response.text()).split('\n').find((text) => text.startsWith('data: {'))!;
  return (JSON.parse(line.slice('data: '.length)) as { result: CallToolResult }).result;
};

const tasksOf = (prompt: string) =>
  queryOnce<{ id: string; status: string }>(
    services[0]!.database.url,
    `select id, status from tasks where input->>'prompt' = $1 order by id`,
    [prompt],
  );

/** Starts a call, waits until its task is stored, and cuts the connection. */
async function cut(given: { prompt: string }): Promise<string> {
  const controller = new AbortController();
  const broken = call(services[0]!, 'generate_image', given, controller.signal).then((response) => response.text());
  const [task] = await eventually('the task', async () => {
    const found = await tasksOf(given.prompt);
    return found.length > 0 && found;
  });
  controller.abort();
  await expect(broken).rejects.toThrow();
  return task!.id;
}

it('two processes answer turn by turn', async () => {
  const clients = await Promise.all(
    services.map(({ baseUrl, api }) => mcpClient('modern', new URL('/mcp', baseUrl), { key: api.key! })),
  );
  const [one, two] = clients as [(typeof clients)[0], (typeof clients)[0]];
  const made = (await one.callTool({
    name: 'generate_image',
    arguments: { prompt: 'Turn by turn #delay:1', wait_s: 0 },
  })) as CallToolResult;
  const { task_id } = taskOf(made);
  const read = (await two.callTool({ name: 'get_task', arguments: { task_id } })) as CallToolResult;
  expect(taskOf(read)).toMatchObject({ task_id, status: 'succeeded' });
  const list = (await one.callTool({ name: 'list_tasks', arguments: { limit: 1 } })) as CallToolResult;
  expect((list.structuredContent as unknown as { data: TaskBody[] }).data[0]!.task_id).toBe(task_id);
  await Promise.all(clients.map((client) => client.close()));
});

it('a call that was cut gets its task when it is repeated, also by another process', async () => {
  const given = { prompt: 'Cut and repeated #delay:2', aspect_ratio: '1:1' };
  const first = await cut(given);
  await sleep(300); // until the first process has noticed
  const again = await resultOf(await call(services[1]!, 'generate_image', given));
  expect(taskOf(again)).toMatchObject({ task_id: first, status: 'succeeded' });
  expect(await tasksOf(given.prompt)).toHaveLength(1);

  const third = await resultOf(await call(services[1]!, 'generate_image', given));
  expect(taskOf(third).task_id).not.toBe(first); // the outcome was delivered, so this is a wish for another
});

it('two equal calls at the same time are two tasks', async () => {
  const given = { prompt: 'Twins', wait_s: 20 };
  const both = await Promise.all(
    services.map(async (service) => resultOf(await call(service, 'generate_image', given))),
  );
  expect(new Set(both.map((result) => taskOf(result).task_id)).size).toBe(2);
});

it('a cut call whose task still waits is cancelled, and one whose task runs is finished', async () => {
  const running = await cut({ prompt: 'Already paid for #delay:14' });
  await services[0]!.api.until(running, 'running');
  const waiting = await cut({ prompt: 'Still in the line' }); // the key runs one task at a time
  await sleep(PAST_GRACE_MS);
  const { body } = await services[0]!.api.get(`/v1/tasks/${waiting}`);
  expect(body).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
  expect(await services[0]!.api.untilFinal(running)).toMatchObject({ status: 'succeeded' });
});

it('a call that is repeated in time keeps its waiting task', async () => {
  const blocker = await services[0]!.api.create({ model: 'gpt-image-2', prompt: '#hang' });
  await services[0]!.api.until(blocker.body.task_id, 'running');
  const given = { prompt: 'Kept in the line', wait_s: 60 };
  const first = await cut(given);
  await sleep(300);
  const again = call(services[0]!, 'generate_image', given).then(resultOf);
  await sleep(PAST_GRACE_MS);
  expect((await services[0]!.api.get(`/v1/tasks/${first}`)).body.status).toBe('queued');
  await services[0]!.api.cancel(blocker.body.task_id);
  expect(taskOf(await again)).toMatchObject({ task_id: first, status: 'succeeded' });
});

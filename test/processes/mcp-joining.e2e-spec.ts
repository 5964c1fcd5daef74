import type { CallToolResult } from '@modelcontextprotocol/client';
import { type OwnService, startOwnService } from '../support/service.ts';
import type { TaskBody } from '../support/clients/api.ts';
import { mcpClient, taskOf } from '../support/clients/mcp.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

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

/** Starts a call, waits until its task is stored, and cuts the connection. The service has noticed that when it returns. */
async function cut(given: { prompt: string }): Promise<string> {
  const controller = new AbortController();
  const broken = call(services[0]!, 'generate_image', given, controller.signal).then((response) => response.text());
  const [task] = await eventually('the task', async () => {
    const found = await tasksOf(given.prompt);
    return found.length > 0 && found;
  });
  controller.abort();
  await expect(broken).rejects.toThrow();
  await eventually('the hang-up', async () => {
    const sql = 'select 1 from calls where task_id = $1 and hung_up_at is not null';
    return (await queryOnce(services[0]!.database.url, sql, [task!.id])).length === 1;
  });
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
  const given = { prompt: 'Cut and repeated #delay:5', aspect_ratio: '1:1' };
  const first = await cut(given);
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

it('a cut call whose task runs is finished', async () => {
  const running = await cut({ prompt: 'Already paid for #delay:12' }); // longer than a task that nobody waits for is left alone
  expect(await services[0]!.api.untilFinal(running)).toMatchObject({ status: 'succeeded' });
});

it('a cut call whose task waits is cancelled, unless it is repeated in time', async () => {
  const [{ api }] = services as [OwnService, OwnService];
  const blocker = await api.create({ model: 'gpt-image-2', prompt: '#hang' }); // the key runs one task at a time
  await api.until(blocker.body.task_id, 'running');
  const given = { prompt: 'Kept in the line', wait_s: 60 };
  const kept = await cut(given);
  const again = call(services[0]!, 'generate_image', given).then(resultOf);
  const left = await cut({ prompt: 'Still in the line' }); // later, so its time ends later
  expect(await api.untilFinal(left)).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
  expect((await api.get(`/v1/tasks/${kept}`)).body.status).toBe('queued');
  await api.cancel(blocker.body.task_id);
  expect(taskOf(await again)).toMatchObject({ task_id: kept, status: 'succeeded' });
});

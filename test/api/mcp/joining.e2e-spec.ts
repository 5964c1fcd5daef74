import type { CallToolResult } from '@modelcontextprotocol/client';
import { Api, type TaskBody } from '../../support/clients/api.ts';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { mcpClient, taskOf, textOf } from '../../support/clients/mcp.ts';
import { pauseModel } from '../../support/clients/pauses.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { joinSecondProcess, joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

interface Options {
  id?: number;
  key?: string | null;
  signal?: AbortSignal;
}

/** Two processes; the first also runs tasks. */
let first: SharedService;
let addresses: string[];
beforeAll(async () => {
  first = await joinService();
  addresses = [first.baseUrl, await joinSecondProcess(first)];
});
afterAll(() => first.close());

const call = (baseUrl: string, name: string, given: object, { id = 1, key = first.api.key, signal }: Options = {}) =>
  post(baseUrl, { id, method: 'tools/call', params: { name, arguments: given } }, { key, signal });

const post = (baseUrl: string, message: object, { key = first.api.key, signal }: Options = {}) =>
  fetch(new URL('/mcp', baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    ...(signal && { signal }),
  });

const resultOf = async (response: Response): Promise<CallToolResult> => {
  const line = (await response.text()).split('\n').find((text) => text.startsWith('data: {'))!;
  return (JSON.parse(line.slice('data: '.length)) as { result: CallToolResult }).result;
};

const tasksOf = (prompt: string) =>
  queryOnce<{ id: string; status: string }>(
    first.database.url,
    `select id, status from tasks where input->>'prompt' = $1 order by id`,
    [prompt],
  );

/** Starts a call, waits until its task is stored, and cuts the connection. The service has noticed that when it returns. */
async function cut(given: { prompt: string }, key = first.api.key): Promise<string> {
  const controller = new AbortController();
  const { signal } = controller;
  const broken = call(first.baseUrl, 'generate_image', given, { key, signal }).then((response) => response.text());
  const [task] = await eventually('the task', async () => {
    const found = await tasksOf(given.prompt);
    return found.length > 0 && found;
  });
  controller.abort();
  await expect(broken).rejects.toThrow();
  await eventually('the hang-up', async () => {
    const sql = 'select 1 from calls where task_id = $1 and hung_up_at is not null';
    return (await queryOnce(first.database.url, sql, [task!.id])).length === 1;
  });
  return task!.id;
}

it('two processes answer turn by turn', async () => {
  const clients = await Promise.all(
    addresses.map((baseUrl) => mcpClient('modern', new URL('/mcp', baseUrl), { key: first.api.key! })),
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
  const given = { prompt: 'Cut and repeated', aspect_ratio: '1:1' };
  const paused = await pauseModel(first.api, 'gpt-image-2'); // the task must not end before the second call has joined
  const cutTask = await cut(given);
  const again = call(addresses[1]!, 'generate_image', given).then(resultOf);
  await eventually('the second to join', async () => (await callsOf(cutTask))[0]?.joined_retry === 1);
  await paused.end();
  expect(taskOf(await again)).toMatchObject({ task_id: cutTask, status: 'succeeded' });
  expect(await tasksOf(given.prompt)).toHaveLength(1);

  const third = await resultOf(await call(addresses[1]!, 'generate_image', given));
  expect(taskOf(third).task_id).not.toBe(cutTask); // the outcome was delivered, so this is a wish for another
});

it('two equal calls at the same time are two tasks', async () => {
  const given = { prompt: 'Twins', wait_s: 20 };
  const locked = await LockedRows.by(first.database.url, 'lock table calls in share row exclusive mode');
  // A statement waits 2 s for the lock, which may be over on a busy machine before the other one waits.
  const untilServed = async (address: string): Promise<CallToolResult> => {
    const result = await resultOf(await call(address, 'generate_image', given));
    return result.isError ? untilServed(address) : result;
  };
  const calls = addresses.map(untilServed);
  await eventually('both to look for an earlier call', async () => (await locked.waiting()) === 2);
  await locked.release();
  const both = await Promise.all(calls);
  expect(new Set(both.map((result) => taskOf(result).task_id)).size).toBe(2);
});

/** Starts a call whose connection stays open. */
async function open(given: { prompt: string }, id: number) {
  const answer = call(first.baseUrl, 'generate_image', given, { id }).then(resultOf);
  const [task] = await eventually('the task', async () => {
    const found = await tasksOf(given.prompt);
    return found.length > 0 && found;
  });
  await eventually('the call', async () => (await callsOf(task!.id)).length === 1);
  return { taskId: task!.id, answer };
}

const callsOf = (taskId: string) =>
  queryOnce<{ joined_retry: number; delivered_at: Date | null }>(
    first.database.url,
    'select joined_retry, delivered_at from calls where task_id = $1',
    [taskId],
  );

it('a call that is unanswered for over a second is joined, because its client may have given up', async () => {
  const given = { prompt: '#hang Given up without a word', wait_s: 60 };
  const { taskId, answer } = await open(given, 3);
  await queryOnce(
    first.database.url,
    `update calls set created_at = created_at - interval '2 s', joined_until = now() + interval '1 hour' where task_id = $1`,
    [taskId],
  );
  const again = call(addresses[1]!, 'generate_image', given, { id: 4 }).then(resultOf);
  await eventually('the second to join', async () => (await callsOf(taskId))[0]?.joined_retry === 1);
  await first.api.cancel(taskId);
  const texts = (await Promise.all([answer, again])).map((result) => textOf(result));
  for (const text of texts) expect(text).toContain(taskId);
  expect(await tasksOf(given.prompt)).toHaveLength(1);
});

it('a call that its client cancels by a message is joined at once, and also after its end', async () => {
  const given = { prompt: '#hang Given up by a message', wait_s: 60 };
  const { taskId, answer } = await open(given, 5);
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 5, reason: 'timeout' } };
  expect((await post(addresses[1]!, cancelled)).status).toBe(202);
  expect(await callsOf(taskId)).toEqual([{ joined_retry: 1, delivered_at: null }]);
  await first.api.cancel(taskId);
  expect(textOf(await answer)).toContain(taskId);
  const again = await resultOf(await call(addresses[1]!, 'generate_image', given, { id: 7 }));
  expect(textOf(again)).toContain(taskId);
  expect(await tasksOf(given.prompt)).toHaveLength(1);
});

it('a cut call whose task runs is finished; one whose task waits is cancelled, unless it is repeated in time', async () => {
  // Longer than a task that nobody waits for is left alone.
  const running = await cut({ prompt: 'Already paid for #delay:12' });

  const { key } = await anotherKey(first.api, { limits: { max_running: 1 } });
  const api = new Api(first.baseUrl, key);
  const blocker = await api.create({ model: 'gpt-image-2', prompt: '#hang' });
  await api.until(blocker.body.task_id, 'running');
  const given = { prompt: 'Kept in the line', wait_s: 60 };
  const kept = await cut(given, key);
  const again = call(first.baseUrl, 'generate_image', given, { key }).then(resultOf);
  const left = await cut({ prompt: 'Still in the line' }, key); // later, so its time ends later
  expect(await api.untilFinal(left)).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
  expect((await api.get(`/v1/tasks/${kept}`)).body.status).toBe('queued');
  await api.cancel(blocker.body.task_id);
  expect(taskOf(await again)).toMatchObject({ task_id: kept, status: 'succeeded' });

  expect(await first.api.untilFinal(running)).toMatchObject({ status: 'succeeded' });

  const isForgotten = async () =>
    (await queryOnce(first.database.url, 'select 1 from calls where task_id = $1', [left])).length === 0;
  await eventually('the call of the cancelled task to be forgotten', isForgotten);
  const repeated = await call(first.baseUrl, 'generate_image', { prompt: 'Still in the line' }, { key });
  expect(taskOf(await resultOf(repeated))).toMatchObject({ status: 'succeeded' });
});

import type { Command } from 'commander';
import { wholeNumber } from '../terminal/options.ts';
import type { EXAMPLES } from './examples.ts';
import { type Connection, operate, opsAct, type Row, show, text } from './connection.ts';

interface List {
  data: Row[];
  has_more: boolean;
  last_id?: string | null;
}

const PROCESS_FIELDS = [
  'id',
  'role',
  'state',
  'drain_requested',
  'version',
  'host',
  'started_at',
  'busy',
  'slots',
  'lease_margin_s',
];
export const TASK_FIELDS = [
  'task_id',
  'model',
  'status',
  'waiting_for',
  'stuck',
  'attempt',
  'provider',
  'worker_id',
  'created_at',
  'error_code',
];
export const PAUSE_FIELDS = ['id', 'kind', 'model', 'provider', 'place', 'tasks', 'until', 'reason'];
export const REPLAY_FIELDS = ['id', 'status', 'events', 'since', 'until', 'queued', 'total'];
export const LEVEL_FIELDS = ['log_level', 'log_levels', 'changed_at', 'changed_by'];
const PLACE_FIELDS = [
  'place',
  'provider',
  'host',
  'credential',
  'in_flight',
  'concurrency',
  'error_share',
  'circuit_open_in',
  'pauses',
  'models',
];
const KEY_FIELDS = [
  'api_key_id',
  'name',
  'queued',
  'oldest_waiting_s',
  'running',
  'max_running',
  'refused_last_hour',
  'failed_last_hour',
  'last_used_at',
];
const ENDPOINT_FIELDS = [
  'id',
  'host',
  'status',
  'failing_since',
  'undelivered',
  'last_attempted_at',
  'last_status_code',
  'last_error',
];

const PATH = '/v1/operations';

interface ListCommand {
  name: keyof typeof EXAMPLES;
  description: string;
  fields: readonly string[];
  path?: string;
}

const LISTS: ListCommand[] = [
  { name: 'processes', description: 'List the processes and how they are doing.', fields: PROCESS_FIELDS },
  { name: 'providers', description: 'List the places of the providers.', fields: PLACE_FIELDS },
  { name: 'keys', description: 'List the API keys with the most unfinished tasks.', fields: KEY_FIELDS },
  { name: 'pauses', description: 'List the pauses in force.', fields: PAUSE_FIELDS },
  { name: 'replays', description: 'List the webhook replays.', fields: REPLAY_FIELDS, path: '/webhooks/replays' },
];

const read = <Answer>(options: Connection, path: string): Promise<Answer> =>
  operate(options, (operator) => operator.call<Answer>('GET', PATH + path));

/** Adds the commands that only read. */
export function addViews(ops: Command): void {
  opsAct(ops, 'status', 'Show queues, processes and rates.').action(showStatus);
  for (const list of LISTS) addList(ops, list);
  opsAct(ops, 'webhooks', 'Show the webhooks of all keys, and the endpoints that fail.').action(showWebhooks);
  opsAct(ops, 'log-levels', 'Show the log levels that an operator has set.').action(async (options: Connection) => {
    show(await read<Row>(options, '/log_levels'), LEVEL_FIELDS, options);
  });
  opsAct(ops, 'tasks', 'List unfinished tasks of all keys, oldest first.')
    .option('--state <state>', 'waiting, parked, paused, running or stuck')
    .option('--worker-id <id>', 'only tasks that this process runs')
    .option('--provider <name>', 'only tasks for which this provider was called')
    .option('--key-id <id>', 'only tasks of this API key, key_…')
    .option('--model <id>', 'only tasks of this model')
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 20)
    .option('--after <id>', 'the last id of the previous page, task_…')
    .action(showTasks);
  opsAct(ops, 'task', 'Show a task of any key, and what happened to it.').argument('<id>', 'task_…').action(showTask);
}

function addList(ops: Command, { name, description, fields, path = `/${name}` }: ListCommand): void {
  opsAct(ops, name, description).action(async (options: Connection) => {
    const { data } = await read<List>(options, path);
    show(data, fields, options);
  });
}

interface Status extends Row {
  queue: Row[];
  rates: Row;
  processes: Row;
  objectives: Row[];
}

async function showStatus(options: Connection): Promise<void> {
  const status = await read<Status>(options, '');
  if (options.json) return show(status, [], options);
  show(
    { version: status.version, pauses: status.pauses, ...status.processes },
    ['version', 'pauses', ...Object.keys(status.processes)],
    options,
  );
  console.log(`\nObjectives, last hour:`);
  show(status.objectives, ['name', 'objective', 'events', 'bad', 'burn_rate', 'state'], options);
  console.log(
    `\nLast five minutes: ${Object.entries(status.rates)
      .map(([name, n]) => `${n} ${name}`)
      .join(', ')}.\n`,
  );
  const counts = ['model', 'waiting', 'parked', 'paused', 'running', 'oldest_waiting_s'];
  show(status.queue, counts, options, 'No task waits or runs.');
}

interface Webhooks extends Row {
  endpoints: Row;
  dispatches: Row;
  oldest_due_s: number | null;
  attempts: Row[];
  troubled: Row[];
}

async function showWebhooks(options: Connection): Promise<void> {
  const webhooks = await read<Webhooks>(options, '/webhooks');
  if (options.json) return show(webhooks, [], options);
  const { endpoints, dispatches, oldest_due_s, attempts, troubled } = webhooks;
  const counts = { ...endpoints, ...dispatches, oldest_due_s };
  show(counts, Object.keys(counts), options);
  console.log('\nAttempts of the last hour:');
  show(attempts, ['outcome', 'error', 'count'], options);
  console.log('\nEndpoints that fail, or that the service has disabled:');
  show(troubled, ENDPOINT_FIELDS, options);
}

interface TaskOptions extends Connection {
  state?: string;
  workerId?: string;
  provider?: string;
  keyId?: string;
  model?: string;
  limit: number;
  after?: string;
}

async function showTasks(options: TaskOptions): Promise<void> {
  const { state, workerId: worker_id, provider, keyId: api_key_id, model, limit, after } = options;
  const given = Object.entries({ state, worker_id, provider, api_key_id, model, limit, after });
  const sent = given.filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]);
  const query = new URLSearchParams(Object.fromEntries(sent) as Record<string, string>);
  const { data, has_more: hasMore, last_id: lastId } = await read<List>(options, `/tasks?${query}`);
  show(data, TASK_FIELDS, options);
  if (hasMore && !options.json) console.log(`More: --after ${lastId}`);
}

async function showTask(id: string, options: Connection): Promise<void> {
  const path = `${PATH}/tasks/${encodeURIComponent(id)}`;
  const { task, data } = await operate(options, async (operator) => ({
    task: await operator.call<Row>('GET', path),
    data: (await operator.call<List>('GET', `${path}/timeline`)).data,
  }));
  if (options.json) return show({ ...task, timeline: data }, [], options);
  const fields = Object.entries(task).filter(([name, value]) => name !== 'object' && value !== null);
  show(
    fields.map(([field, value]) => ({ field, value: text(field, value) })),
    ['field', 'value'],
    options,
  );
  console.log('');
  const moments = data.map(({ at_ms: atMs, ...moment }) => ({ ...moment, time: new Date(Number(atMs)).toISOString() }));
  show(moments, ['time', 'type', 'attempt', 'provider', 'detail'], options);
}

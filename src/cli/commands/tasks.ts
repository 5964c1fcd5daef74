import { Command, Option } from 'commander';
import type { ListTasks } from '@darkroom/client';
import { type Task, TaskFailedError } from '@darkroom/client';
import { connect, connected, type Connection } from '../client/connect.ts';
import { followRun } from '../client/follow-run.ts';
import { failureText } from '../terminal/failure-text.ts';
import { number, pair, past, wholeNumber } from '../terminal/options.ts';
import { table } from '../terminal/table.ts';
import { take } from '../terminal/take.ts';

interface ListOptions extends Connection {
  status?: ListTasks['status'];
  kind?: ListTasks['kind'];
  model?: string;
  since?: number;
  metadata?: Record<string, string>;
  limit: number;
}

interface WaitOptions extends Connection {
  out: string;
  open?: true;
  timeout?: number;
}

const MAX_PAGE = 100;

/** `darkroom tasks …`: the tasks of the key, whatever interface created them. */
export function tasksCommand(): Command {
  const tasks = new Command('tasks').description('List, read, cancel, keep, wait for and repeat tasks.');
  addList(tasks);

  const get = tasks
    .command('get')
    .description('Show a task.')
    .argument('<id>', 'task_…')
    .action(async (id: string, options: Connection) => {
      const task = await connect(options).tasks.get(id);
      console.log(options.json ? JSON.stringify(task, null, 2) : detail(task));
    });
  connected(get, 'tasks get task_01jd8e5t9kf3qs7m2v4xw6yzab --json');

  const cancel = tasks
    .command('cancel')
    .description('Cancel tasks. Those that have ended stay as they are.')
    .argument('<ids...>', 'task_…, at most 100')
    .action(async (ids: string[], options: Connection) => {
      const counts = await connect(options).tasks.cancel({ ids });
      const row = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
      console.log(options.json ? JSON.stringify(counts, null, 2) : table([row]));
    });
  connected(cancel, 'tasks cancel task_01jd8e5t9kf3qs7m2v4xw6yzab');

  const keep = tasks
    .command('keep')
    .description('Keep a final task with its files, or give it up.')
    .argument('<id>', 'task_…')
    .option('--collection <name>', 'the name under which it is kept')
    .option('--give-up', 'stop keeping it')
    .action(async (id: string, options: Connection & { collection?: string; giveUp?: true }) => {
      const { tasks: own } = connect(options);
      const task = options.giveUp ? await own.unkeep(id) : await own.keep(id, options.collection ?? null);
      console.log(options.json ? JSON.stringify(task, null, 2) : table([rowOf(task)]));
    });
  connected(keep, 'tasks keep task_01jd8e5t9kf3qs7m2v4xw6yzab --collection Covers');

  const wait = tasks
    .command('wait')
    .description('Wait for a task and save its files.')
    .argument('<id>', 'task_…')
    .action(async (id: string, options: WaitOptions) => followRun(connect(options).run(id), following(options)));
  connected(saving(wait), 'tasks wait task_01jd8e5t9kf3qs7m2v4xw6yzab --timeout 60');

  const retry = tasks
    .command('retry')
    .description('Repeat a final task, wait for it and save its files.')
    .argument('<id>', 'task_…')
    .option('--prompt <text>', 'another prompt')
    .action(async (id: string, options: WaitOptions & { prompt?: string }) => {
      const changes = options.prompt === undefined ? {} : { prompt: options.prompt };
      await followRun(await connect(options).run(id).retry(changes), following(options));
    });
  connected(saving(retry), 'tasks retry task_01jd8e5t9kf3qs7m2v4xw6yzab --prompt "The same at dusk"');
  return tasks;
}

function addList(tasks: Command): void {
  const list = tasks
    .command('list')
    .description('List the tasks of the key, newest first.')
    .addOption(new Option('--status <status>').choices(['queued', 'running', 'succeeded', 'failed']))
    .addOption(new Option('--kind <kind>').choices(['image', 'video']))
    .option('--model <id>', 'only tasks of this model')
    .option('--since <when>', 'only tasks created since a date, or 30d or 12h ago', past)
    .option('--metadata <key=value...>', 'only tasks with these pairs', pair)
    .option('--limit <n>', 'how many tasks at most', wholeNumber, 20)
    .action(async ({ status, kind, model, since, metadata, limit, ...connection }: ListOptions) => {
      const filter = { status, kind, model, created_after: since, metadata, limit: Math.min(limit, MAX_PAGE) };
      const found = await take(connect(connection).tasks.list(filter as ListTasks), limit);
      console.log(connection.json ? JSON.stringify(found, null, 2) : table(found.map(rowOf)));
    });
  connected(list, 'tasks list --status failed --since 1d');
}

const saving = (command: Command): Command =>
  command
    .option('--out <path>', 'output folder, or a file name if the task makes one file', '.')
    .option('--open', 'show the files in the browser of this machine')
    .option('--timeout <seconds>', 'give up waiting after this time; the task goes on', number);

const following = ({ out, json, open, timeout }: WaitOptions) => ({
  out,
  ...(json && { json }),
  ...(open && { open }),
  ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
});

const rowOf = (task: Task): Record<string, string> => ({
  id: task.task_id,
  status: task.status === 'failed' ? task.error.code : task.status,
  progress: `${task.progress}%`,
  model: task.model,
  created: new Date(task.created_at * 1000).toISOString(),
  prompt: String((task.input as { prompt?: unknown }).prompt ?? '').slice(0, 40),
});

/** The row of the task, and below it why the task failed. */
function detail(task: Task): string {
  const row = table([rowOf(task)]);
  return task.status === 'failed' ? `${row}\n\n${failureText(new TaskFailedError(task))}` : row;
}

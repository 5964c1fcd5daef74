import { mutate } from '../../api/client.ts';
import { asCallError, CallError } from '../../api/errors.ts';
import { keyNow, onOtherKey, signIn } from '../../api/session.ts';
import { toCamelCase } from '../../format/names.ts';
import { SAME_PRESS_MS } from '../../keys/same-press.ts';
import type { TaskNow } from '../../live/task-store.ts';
import { createStore } from '../../store.ts';
import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import { CreateGeneration } from './create.documents.ts';
import type { Values } from './schema-rules.ts';

/** A request that this tab has sent. The tab remembers the newest `MAX_RUNS`. */
export interface Run {
  /** The idempotency key: a repeated request creates no second task. */
  key: string;
  taskId: string | null;
  /** The same for all runs of one press of Generate; null: the press made only this run. */
  group: string | null;
  /** The task that the request was made from; null: none. */
  parent: string | null;
  request: Values & { model: string; prompt: string };
  at: number;
  fault: {
    message: string;
    code: string;
    param: string | null;
    requestId: string | null;
    retryAfterS: number | null;
  } | null;
}

const STORAGE_KEY = 'darkroom.runs';
const MAX_RUNS = 50;
/** A request that gets no answer is sent at most this many times, always with the same key. */
const ATTEMPTS = 4;

/**
 * The fault of a request that was sent before a reload, and whose answer is unknown. The same key makes a repeat safe.
 */
const NO_ANSWER: Run['fault'] = {
  message: 'The page was loaded again before the answer came.',
  code: 'no_response',
  param: null,
  requestId: null,
  retryAfterS: null,
};

const runs = createStore<readonly Run[]>(saved());
export const { get: currentRuns, subscribe: onRuns } = runs;
/** What one API key has made is not shown to another. */
onOtherKey(() => runs.set(saved()));

/** The runs of the API key that is signed in. */
function saved(): Run[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}') as { owner?: string | null; runs?: Run[] };
    if (kept.owner !== keyNow() || !kept.runs) return [];
    return kept.runs.map((run) => (run.taskId || run.fault ? run : { ...run, fault: NO_ANSWER }));
  } catch {
    return [];
  }
}

function set(next: readonly Run[]): void {
  runs.set(next.slice(0, MAX_RUNS));
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ owner: keyNow(), runs: runs.get() }));
  } catch {
    // Without storage the runs end with the page.
  }
}

/** Does nothing if there is no run with this `key`: an answer may come after the API key has signed out. */
function change(key: string, to: Partial<Run>): void {
  if (runOf(key)) set(runs.get().map((run) => (run.key === key ? { ...run, ...to } : run)));
}

export function removeRun(key: string): void {
  if (runOf(key)) set(runs.get().filter((run) => run.key !== key));
}

const runOf = (key: string): Run | undefined => runs.get().find((run) => run.key === key);

/**
 * Sends requests, each with its own idempotency key, and shows them as runs at once. An equal call within
 * `SAME_PRESS_MS` sends nothing, because it is the second click of a double click.
 * @returns for each request, in their order, why it failed; null: it was accepted
 */
export function startRuns(requests: readonly Run['request'][], parent: string | null): Promise<(CallError | null)[]> {
  const press = JSON.stringify([keyNow(), requests, parent]);
  if (press === lastPress.of && performance.now() - lastPress.at < SAME_PRESS_MS) return lastPress.answers;
  const group = requests.length > 1 ? newKey() : null;
  const at = Date.now() / 1_000;
  const started = requests.map((request): Run => ({
    key: newKey(),
    taskId: null,
    group,
    parent,
    request,
    at,
    fault: null,
  }));
  set([...started, ...runs.get()]);
  const answers = Promise.all(started.map(({ key }) => send(key)));
  lastPress = { of: press, at: performance.now(), answers };
  return answers;
}

let lastPress = { of: '', at: -Infinity, answers: Promise.resolve([] as (CallError | null)[]) };

/** A random key. `crypto.randomUUID` is missing on pages without https, as in a local network. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Sends a run, for the first time or again, with the same key. */
export async function send(key: string): Promise<CallError | null> {
  const run = runOf(key);
  if (!run) return null;
  change(key, { fault: null });
  try {
    const { taskId } = await sendPatiently(run);
    change(key, { taskId, fault: null });
    return null;
  } catch (error) {
    const fault = asCallError(error);
    const { message, code, param, requestId, retryAfterS } = fault;
    change(key, { fault: { message, code, param, requestId, retryAfterS } });
    return fault;
  }
}

async function sendPatiently({ key, request, parent }: Run) {
  const sender = keyNow();
  const input = { ...toCamelCase(request), ...(parent && { parentTaskId: parent }) } as never;
  for (let attempt = 1; ; attempt++) {
    try {
      return (await mutate(CreateGeneration, { input, key })).createGeneration;
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'no_response' || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
      // A second try as another API key would charge that key. After a lost session `keyNow()` still names the old key,
      // but the cookie may already belong to another key that has signed in since.
      if (signIn().state !== 'in' || keyNow() !== sender) throw error;
    }
  }
}

interface Compared {
  /** Parameters of the address of Compare. */
  search: { tasks: string } | { outputs: string };
  count: number;
}

/**
 * What to compare after a press: one task of each model, then the repeats. For a press with a single task: its outputs.
 * At most `MAX_COMPARED` of them are compared. Null: there are fewer than two.
 */
export function comparedOf(press: readonly Run[], [task]: readonly TaskNow[]): Compared | null {
  if (press.length === 1) {
    const outputs = task?.outputs.slice(0, MAX_COMPARED).map(({ id }) => id) ?? [];
    return outputs.length > 1 ? { search: { outputs: outputs.join(',') }, count: outputs.length } : null;
  }
  const firsts = press.filter(
    ({ request }, at) => press.findIndex((each) => each.request.model === request.model) === at,
  );
  const ordered = [...firsts, ...press.filter((run) => !firsts.includes(run))];
  const tasks = ordered.flatMap(({ taskId }) => taskId ?? []).slice(0, MAX_COMPARED);
  return tasks.length > 1 ? { search: { tasks: tasks.join(',') }, count: tasks.length } : null;
}

/** The runs of each press of Generate, the newest press first. */
export function pressesOf(all: readonly Run[]): [Run, ...Run[]][] {
  const presses = new Map<string, [Run, ...Run[]]>();
  for (const run of all) {
    const name = run.group ?? run.key;
    const press = presses.get(name);
    if (press) press.push(run);
    else presses.set(name, [run]);
  }
  return [...presses.values()];
}

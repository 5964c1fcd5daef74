import { run } from '../api/client.ts';
import { lostSession, onOtherKey } from '../api/session.ts';
import { pauseBeforeRetry, setConnection } from './connection.ts';
import { type Ended, subscribe } from './socket.ts';
import { putTasks, type TaskRow } from './task-store.ts';
import { NewestTasks, TasksUpdated, toRow } from './task.documents.ts';

/** Events are gathered for this long, so that the page renders only once however many arrive. */
const GATHER_MS = 80;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const POLL_MS = 5_000;
const POLL_ROUNDS = 6;
/** How far this browser's clock may be ahead of the service's clock. */
const CLOCK_SKEW_S = 10;
/** After this time a hidden page closes its socket. */
const HIDDEN_MS = 300_000;
const REFUSED_BEFORE_POLLING = 3;
/** Close codes: signed out, too many sockets of this key, and the service shuts down. */
const SIGNED_OUT = 4403;
const TOO_MANY = 4429;
const GOING_AWAY = 1001;

const pending = new Map<string, TaskRow>();
const listeners = new Set<FeedListener>();
/**
 * The time from which the feed goes on after a break or a lost session, in unix seconds: the latest end of a task that
 * the feed has brought. 0 until the feed starts. The start sets a time shortly in the past, because lists are read
 * before the socket opens.
 */
let newestEnd = 0;
onOtherKey(() => {
  newestEnd = 0;
});
let wasEverOpen = false;
let stopFeed: (() => void) | null = null;
let gathering: ReturnType<typeof setTimeout> | null = null;

/** @param added the tasks among `rows` that the page did not know before */
type FeedListener = (rows: TaskRow[], added: TaskRow[]) => void;

/** Calls the listener with what the feed brings, until the returned function is called. */
export function onFeed(listener: FeedListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Follows all tasks of the key until the returned function is called. After a break the feed goes on from where it
 * ended.
 */
export function startTaskFeed(): () => void {
  const abort = new AbortController();
  newestEnd ||= Math.floor(Date.now() / 1_000) - CLOCK_SKEW_S;
  void follow(abort.signal);
  return () => {
    abort.abort();
    stopFeed?.();
    wasEverOpen = false;
    pending.clear();
  };
}

async function follow(signal: AbortSignal): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  let refused = 0;
  while (!signal.aborted) {
    await whileHidden(signal);
    setConnection({ state: 'connecting' });
    const { closeCode, wasOpen } = await session(signal);
    if (signal.aborted) return;
    if (closeCode === SIGNED_OUT) return lostSession();
    if (wasOpen) {
      pauseMs = FIRST_PAUSE_MS;
      refused = 0;
    } else refused++;
    if (closeCode === GOING_AWAY && wasOpen) continue;
    if (closeCode === TOO_MANY || refused >= REFUSED_BEFORE_POLLING) {
      refused = REFUSED_BEFORE_POLLING - 1; // after this poll, one more refused socket leads to polling again
      if (await poll(signal)) continue;
    }
    await pauseBeforeRetry(pauseMs * (0.75 + Math.random() / 2));
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
}

/** One subscription, from its start to its end. */
function session(signal: AbortSignal): Promise<Ended & { wasOpen: boolean }> {
  return new Promise((resolve) => {
    let wasOpen = false;
    const finish = (why: Ended) => {
      document.removeEventListener('visibilitychange', onVisibility);
      clearTimeout(hiddenTimer);
      stopFeed = null;
      resolve({ ...why, wasOpen });
    };
    const stop = subscribe(
      TasksUpdated,
      { since: newestEnd - 1 },
      {
        open: () => {
          wasOpen = wasEverOpen = true;
          setConnection({ state: 'live' });
        },
        next: ({ tasksUpdated }) => gather(toRow(tasksUpdated)),
        ended: finish,
      },
    );
    let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = () => {
      clearTimeout(hiddenTimer);
      if (document.hidden) hiddenTimer = setTimeout(() => stopFeed?.(), HIDDEN_MS);
    };
    document.addEventListener('visibilitychange', onVisibility);
    stopFeed = () => {
      stop();
      finish({ closeCode: GOING_AWAY });
    };
    if (signal.aborted) stopFeed();
  });
}

/**
 * Reads the newest tasks `POLL_ROUNDS` times, because no socket opens.
 * @returns true when it is time to try a socket again; false as soon as a read fails too, because then the service is
 *   unreachable
 */
async function poll(signal: AbortSignal): Promise<boolean> {
  for (let round = 0; round < POLL_ROUNDS && !signal.aborted; round++) {
    const page = await run(NewestTasks, {}).catch(() => null);
    if (!page) return false;
    setConnection({ state: 'polling' });
    for (const { node } of page.tasks.edges) gather(toRow(node));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

async function whileHidden(signal: AbortSignal): Promise<void> {
  if (!document.hidden || !wasEverOpen) return;
  setConnection({ state: 'paused' });
  await new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve());
  });
}

function gather(row: TaskRow): void {
  pending.set(row.taskId, row);
  newestEnd = Math.max(newestEnd, row.completedAt);
  gathering ??= setTimeout(() => (document.hidden ? write() : requestAnimationFrame(write)), GATHER_MS);
}

function write(): void {
  gathering = null;
  const news = [...pending.values()];
  pending.clear();
  const added = putTasks(news);
  for (const listener of listeners) listener(news, added);
}

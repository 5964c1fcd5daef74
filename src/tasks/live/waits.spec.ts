import type { ShownTask } from '../record/task.entity.ts';
import type { TaskFeed, Watcher } from '../queue/task-feed.ts';
import { untilFinal } from './waits.ts';

const stateOf = (status: ShownTask['status'], sequence: number) => ({ id: 'task_1', status, sequence }) as ShownTask;
const QUEUED = stateOf('queued', 1);

describe('the wait for the end of a task', () => {
  let watcher: Watcher | null;
  let reads: ShownTask[];
  const feed = {
    watch: (_id: string, watching: Watcher) => {
      watcher = watching;
      return () => (watcher = null);
    },
  } as unknown as TaskFeed;
  const read = async () => {
    reads.push(QUEUED);
    return QUEUED;
  };
  beforeEach(() => {
    reads = [];
  });

  it('is over with the state that the feed brings, which is not read again', async () => {
    const waited = untilFinal(feed, 'task_1', read, { seconds: 60 });
    watcher!(stateOf('running', 2));
    const end = stateOf('succeeded', 3);
    watcher!(end);
    expect(await waited).toBe(end);
    expect(reads).toHaveLength(1);
    expect(watcher).toBeNull();
  });

  it('for a change ignores an event that is older than the known state', async () => {
    const over = new AbortController();
    const waited = untilFinal(feed, 'task_1', read, { seconds: 60, changedFrom: 1, over: over.signal });
    watcher!(stateOf('queued', 0));
    const change = stateOf('running', 2);
    watcher!(change);
    expect(await waited).toBe(change);
  });

  it('reads the task again when the wait is over before', async () => {
    const over = new AbortController();
    const waited = untilFinal(feed, 'task_1', read, { seconds: 60, over: over.signal });
    over.abort();
    expect(await waited).toBe(QUEUED);
    expect(reads).toHaveLength(2);
  });
});

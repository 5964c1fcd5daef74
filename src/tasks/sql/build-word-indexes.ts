import { type Client, escapeIdentifier } from 'pg';
import { idBoundAt, timeOfId } from '../../platform/schema/time.ts';
import {
  INDEXED_KEY,
  INDEXED_PROMPT,
  type IndexedPartition,
  readWordIndexes,
  usable,
  wordIndexOf,
} from './word-indexes.ts';
import { endOf, isOfStretch, lengthOf, nextStretch, type Stretch, stretchIndexOf } from './word-stretches.ts';

/** Behind the end of a partition: by then its last tasks have ended, and their ends need not write to the index. */
const SETTLED_MS = 3_600_000;
/** The same for a stretch of one that gets new tasks. */
const ENDED_MS = 600_000;
/** Of its tasks. A stretch with more unfinished ones waits. */
const MOST_UNFINISHED = 1 / 10;
/** Fewer are compared at once in the order of the list. */
const FEWEST_TASKS = 2_000;
/** PostgreSQL reads the whole partition twice for the index of a stretch, some 2 s for 1 GB. So that this is a thirtieth of the time, stretches are longer in a large one. */
const SHORTEST_MS = 600_000;
const SHORTEST_MS_A_GB = 60_000;

/** A vacuum of the partition would be cancelled. */
const factsOf = (partition: string): string => `
  select count(*)::int as tasks, count(completed_at)::int as ended, pg_relation_size('${partition}') / 1e9 as gb,
         exists (select from pg_locks where relation = '${partition}'::regclass and mode = 'ShareUpdateExclusiveLock') as is_locked
  from ${partition} where id >= $1 and id < $2`;

export interface DueIndex {
  partition: string;
  name: string;
  stretch?: Stretch;
}

/** Found by a search; see decisions 82 and 85. Updates of old rows go to a list of at most 256 kB first, which each search reads. */
export const buildWordIndex = ({ partition, name, stretch }: DueIndex): string => `
  create index concurrently ${escapeIdentifier(name)} on ${escapeIdentifier(partition)}
  using gin ((${INDEXED_KEY}), ${INDEXED_PROMPT} gin_trgm_ops) with (gin_pending_list_limit = 256) ${stretch ? `where ${isOfStretch(stretch)}` : ''}`;

/**
 * The indexes to build now, newest first: of partitions that get no new tasks, and of the next stretch of the current one.
 * @param expiredMs partitions that end before are not worth it
 */
export async function dueIndexes(client: Client, nowMs: number, expiredMs: number): Promise<DueIndex[]> {
  const due: DueIndex[] = [];
  for (const partition of (await readWordIndexes(client)).toReversed()) {
    const { name, to, isValid } = partition;
    if (isValid || timeOfId(to) < expiredMs) continue;
    if (timeOfId(to) + SETTLED_MS < nowMs) due.push({ partition: name, name: wordIndexOf(name) });
    else {
      const stretch = await dueStretch(client, partition, Math.min(timeOfId(to), nowMs - ENDED_MS));
      if (stretch) due.push({ partition: name, name: stretchIndexOf(name, stretch), stretch });
    }
  }
  return due;
}

async function dueStretch(client: Client, partition: IndexedPartition, untilMs: number): Promise<Stretch | null> {
  const indexed = usable(partition);
  const fresh = { from: endOf(partition, indexed), to: idBoundAt(untilMs) };
  if (lengthOf(fresh) < SHORTEST_MS) return null;
  const { rows } = await client.query<{ tasks: number; ended: number; gb: number; is_locked: boolean }>(
    factsOf(escapeIdentifier(partition.name)),
    [fresh.from, fresh.to],
  );
  const { tasks, ended, gb, is_locked: isLocked } = rows[0]!;
  const isDue =
    tasks >= FEWEST_TASKS &&
    tasks - ended <= MOST_UNFINISHED * tasks &&
    lengthOf(fresh) >= SHORTEST_MS_A_GB * gb &&
    !isLocked;
  return isDue ? nextStretch(partition, indexed, fresh.to) : null;
}

/** Drops indexes that an interrupted build left, and those of stretches that another index has too. */
export async function dropUseless(client: Client): Promise<void> {
  for (const partition of await readWordIndexes(client)) {
    const used = partition.isValid ? [] : usable(partition).map(({ name }) => name);
    const useless = partition.stretches.map(({ name }) => name).filter((name) => !used.includes(name));
    if (partition.isValid === false) useless.push(wordIndexOf(partition.name));
    for (const name of useless) await client.query(`drop index concurrently if exists ${escapeIdentifier(name)}`);
  }
}

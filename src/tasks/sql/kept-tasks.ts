import type { EntityManager } from 'typeorm';
import { keysWithin } from '../../auth/limits/keys-below.ts';
import type { Stars } from '../record/stars.ts';
import { type DoneTask, SHOWN_COLUMNS, type ShownTask } from '../record/task.entity.ts';
import { REPLACE_RESULT, valuesOf } from './replace-result.ts';

/**
 * Makes the changes of the stars of one key run one after the other. Otherwise two changes could pass a quota together.
 */
const LOCK_KEY = `select pg_advisory_xact_lock(hashtextextended('kept ' || $1, 0))`;

const READ = `
  select ${SHOWN_COLUMNS}, unkept_files_expire_at from tasks_done
  where id = $1 and api_key_id = $2 and expires_at > now() for update`;

export type FinalTask = ShownTask & Pick<DoneTask, 'unkept_files_expire_at'>;

/**
 * Call this before stars are changed; the lock ends with the transaction.
 * @param apiKeyIds the key, and the keys above it that count what it keeps
 */
export async function lockStars(tx: EntityManager, apiKeyIds: string[]): Promise<void> {
  for (const id of apiKeyIds.toSorted()) await tx.query(LOCK_KEY, [id]);
}

/** @returns the locked task; null when the API key has no such final task any more */
export async function lockFinal(tx: EntityManager, apiKeyId: string, taskId: string): Promise<FinalTask | null> {
  const [task] = await tx.query<FinalTask[]>(READ, [taskId, apiKeyId]);
  return task ?? null;
}

/**
 * The present time in unix seconds. It is not the beginning of the transaction, because the transaction may have waited
 * for a lock.
 */
export async function timeNow(tx: EntityManager): Promise<number> {
  const [row] = await tx.query<{ now_s: number }[]>('select extract(epoch from clock_timestamp())::float8 as now_s');
  return row!.now_s;
}

/** Counts what is kept besides the task $2. Deleted tasks do not count, although their rows stay for some minutes. */
const OTHERS = `
  select count(*)::int as tasks, coalesce(sum(stored.bytes), 0)::float8 as bytes
  from tasks_done
  cross join lateral (
    select sum((output->>'size_bytes')::float8) as bytes from json_array_elements(result) as output
    where (output->>'kept')::boolean and output->>'deleted' is null
  ) stored
  where api_key_id = any(array(${keysWithin('$1', 'max_kept_bytes')})) and kept_at is not null and id <> $2 and expires_at > now()`;

/** What is kept besides a given task: by the key, and by the keys below it if the key has a limit of kept bytes. */
export interface OtherStars {
  tasks: number;
  /** Bytes of the kept outputs. */
  bytes: number;
}

export async function countOthers(tx: EntityManager, apiKeyId: string, { id }: ShownTask): Promise<OtherStars> {
  const [others] = await tx.query<OtherStars[]>(OTHERS, [apiKeyId, id]);
  return others!;
}

/**
 * Keeps the pictures that came inside the request, so that the request can be made again. Once the task loses its star,
 * these pictures are deleted with its files or its record.
 */
const KEEP_REQUEST_FILES = `
  update uploads u set expires_at = t.expires_at from tasks_done t
  where u.task_id = $1 and u.of_task and u.deleted_at is null and u.blob_id is not null and t.id = $1`;

/** @returns the changed task; null when it has changed since it was read, which cannot happen to a locked task */
export async function setStars(
  tx: EntityManager,
  { id, sequence }: ShownTask,
  stars: Stars,
): Promise<ShownTask | null> {
  const [[task]] = await tx.query<[ShownTask[], number]>(REPLACE_RESULT.text, valuesOf(id, sequence, stars));
  if (task && stars.kept) await tx.query(KEEP_REQUEST_FILES, [id]);
  return task ?? null;
}

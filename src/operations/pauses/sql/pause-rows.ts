import type { EntityManager } from 'typeorm';
import type { Pause } from '../../../tasks/record/pause.entity.ts';

/** The number of the advisory lock: arbitrary, and the same in every process. */
const PAUSES_LOCK = 7_274_614;

/** Makes changes of pauses run one after the other, because each may change the models of other pauses. */
export async function lockPauses(tx: EntityManager): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [PAUSES_LOCK]);
}

/** Pauses that are not marked as ended. The time of some may be over, until `endDue` marks them. */
export const openPauses = (tx: EntityManager): Promise<Pause[]> =>
  tx.query<Pause[]>('select * from pauses where not released and ended_at is null order by id');

/**
 * Ends the pauses whose time has come.
 * @returns these pauses
 */
export async function endDue(tx: EntityManager): Promise<Pause[]> {
  const [ended] = await tx.query<[Pause[], number]>(
    `update pauses set ended_at = now(), changed_at = now()
     where not released and ended_at is null and until <= now() returning *`,
  );
  return ended;
}

const INSERT = `
  insert into pauses (id, kind, target, place, models, refuse_creates, reason, until, created_by)
  values ($1, $2, $3, $4, '{}', $5, $6, to_timestamp($7::float8), $8) returning *`;

export type NewPause = Pick<Pause, 'id' | 'kind' | 'target' | 'place' | 'refuse_creates' | 'reason' | 'created_by'> & {
  /** Unix seconds; null if the pause has no end. */
  until_s: number | null;
};

export async function insertPause(tx: EntityManager, pause: NewPause): Promise<Pause> {
  const { id, kind, target, place, refuse_creates, reason, until_s, created_by } = pause;
  const values = [id, kind, target, place, refuse_creates, reason, until_s, created_by];
  const [row] = await tx.query<Pause[]>(INSERT, values);
  return row!;
}

/** @returns null when there is no such pause, or when it has ended */
export async function endPause(tx: EntityManager, id: string): Promise<Pause | null> {
  const [rows] = await tx.query<[Pause[], number]>(
    'update pauses set ended_at = now(), changed_at = now() where id = $1 and ended_at is null returning *',
    [id],
  );
  return rows[0] ?? null;
}

export async function setModels(tx: EntityManager, id: string, models: readonly string[]): Promise<void> {
  await tx.query('update pauses set models = $2, changed_at = now() where id = $1', [id, models]);
}

const PAGE = `
  select p.*, (select count(*)::int from tasks_live t where t.paused_by = p.id) as tasks
  from pauses p where ($1::text is null or id < $1) and ($2 or ended_at is null) order by id desc limit $3`;

export type PauseWithTasks = Pause & { tasks: number };

/** Pauses, newest first. @param ended whether pauses that have ended are listed too */
export const pagePauses = (
  tx: EntityManager,
  { after, ended, limit }: { after: string | null; ended: boolean; limit: number },
): Promise<PauseWithTasks[]> => tx.query<PauseWithTasks[]>(PAGE, [after, ended, limit]);

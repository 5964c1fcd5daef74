import { Injectable } from '@nestjs/common';
import { Sql, type Statement, type Tx } from '../../../platform/database/sql.ts';
import type { ErasureCounts, LastStep } from '../erasure-step.ts';
import type { Erasure } from '../erasure.entity.ts';

/**
 * How long a process holds an erasure after each piece: longer than a piece takes on slow storage. A killed process
 * delays the erasure by at most this time.
 */
const LEASE = `interval '2 minutes'`;
/**
 * For this time after the erasure was ordered, another process may still accept the key, a creation may commit, or a
 * worker may write. A form with a file may arrive even later, but then its key is checked again.
 */
const QUIET_AFTER = `interval '1 minute'`;

export type TakenErasure = Pick<Erasure, 'id' | 'api_key_id' | 'counts' | 'step' | 'cursor' | 'attempt'> & {
  is_quiet: boolean;
};

const TAKE: Statement = {
  name: 'erasures.take',
  text: `
    with next as (
      select id from erasures where finished_at is null and (lease_until is null or lease_until < now())
      order by lease_until nulls first, id limit 1 for update skip locked
    )
    update erasures e set lease_until = now() + ${LEASE}, attempt = e.attempt + 1 from next where e.id = next.id
    returning e.id, e.api_key_id, e.counts, e.step, e.cursor, e.attempt, e.created_at < now() - ${QUIET_AFTER} as is_quiet`,
};

const mine = 'id = $1 and attempt = $2 and finished_at is null';

/**
 * Renews the lease. The update also locks the row until the commit, so no other process takes the erasure before then.
 */
const RENEW: Statement = {
  name: 'erasures.renew',
  text: `update erasures set lease_until = now() + ${LEASE} where ${mine} returning 1`,
};

const PROGRESS: Statement = {
  name: 'erasures.progress',
  text: `update erasures set counts = $3, step = $4, cursor = $5 where ${mine}`,
};

const PUT_OFF: Statement = {
  name: 'erasures.put_off',
  text: `update erasures set lease_until = now() + make_interval(secs => $3) where ${mine}`,
};

/**
 * Removes the name, hint, limits and last use of the key. Its hashes stay: without them BOOTSTRAP_API_KEY would bring
 * the key back.
 */
const BLANK_KEY: Statement = {
  name: 'erasures.blank_key',
  text: `update api_keys set name = 'erased', hint = '', limits = '{}', last_used_at = null where id = $1`,
};
const DELETE_BUDGET: Statement = {
  name: 'erasures.delete_budget',
  text: 'delete from key_budgets where api_key_id = $1',
};
const FINISH: Statement = {
  name: 'erasures.finish',
  text: `update erasures set finished_at = now(), lease_until = null, step = null, cursor = null where ${mine}`,
};

/** This process must change nothing more: another process has taken the erasure over, or this process stops. */
export class ErasureLost extends Error {}

interface Progress {
  counts: ErasureCounts;
  step: LastStep | null;
  cursor: string | null;
}

/** Raw SQL because of `skip locked`, and because each piece is written in the transaction that checks the attempt. */
@Injectable()
export class ErasureRows {
  constructor(private readonly sql: Sql) {}

  /** Takes an unfinished erasure that no process holds and that is not put off, if there is one. */
  async take(): Promise<TakenErasure | null> {
    const [row] = await this.sql.run<TakenErasure>(TAKE);
    return row ?? null;
  }

  /**
   * @param write writes a piece and returns the progress after it
   * @throws ErasureLost
   */
  async commit<Written extends Progress>(
    { id, attempt }: TakenErasure,
    write: (tx: Tx) => Promise<Written>,
  ): Promise<Written> {
    return this.sql.transaction(async (tx) => {
      const { rows } = await tx.query({ ...RENEW, values: [id, attempt] });
      if (rows.length === 0) throw new ErasureLost(`Another process carries out ${id}.`);
      const progress = await write(tx);
      const { counts, step, cursor } = progress;
      await tx.query({ ...PROGRESS, values: [id, attempt, JSON.stringify(counts), step, cursor] });
      return progress;
    });
  }

  /**
   * Lets no process take the erasure for `seconds`. Has no effect if another process has taken the erasure over
   * already.
   */
  async putOff({ id, attempt }: TakenErasure, seconds: number): Promise<void> {
    await this.sql.run(PUT_OFF, [id, attempt, seconds]);
  }

  /** @throws ErasureLost */
  async finish({ id, attempt, api_key_id }: TakenErasure): Promise<void> {
    await this.sql.transaction(async (tx) => {
      const { rowCount } = await tx.query({ ...FINISH, values: [id, attempt] });
      if (rowCount === 0) throw new ErasureLost(`Another process carries out ${id}.`);
      await tx.query({ ...DELETE_BUDGET, values: [api_key_id] });
      await tx.query({ ...BLANK_KEY, values: [api_key_id] });
    });
  }
}

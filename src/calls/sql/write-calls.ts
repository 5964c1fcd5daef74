import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { JOIN_LEASE_S } from './join-call.ts';

export interface NewCall {
  id: string;
  apiKeyId: string;
  path: string;
  /** Hex. */
  fingerprint: string;
  /** As in `CallRequest`. */
  message: string | null;
}

/** Adds calls. Each new row has a lease for the connection that waits for the outcome. */
const BEGIN: Statement = {
  name: 'calls.begin',
  text: `
    insert into calls (id, api_key_id, path, fingerprint, message, joined_until)
    select id, api_key_id, path, decode(fingerprint, 'hex'), message, now() + make_interval(secs => ${JOIN_LEASE_S})
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      as w(id, api_key_id, path, fingerprint, message)`,
};

/** Locks rows in the order of their ids, because `DELIVER` may change the same rows at the same time. */
const ATTACH: Statement = {
  name: 'calls.attach',
  text: `
    with held as (
      select c.id, w.task_id from calls c join unnest($1::text[], $2::text[]) as w(id, task_id) using (id)
      order by c.id for update of c
    )
    update calls c set task_id = held.task_id from held where c.id = held.id`,
};
/** Only the attempt that holds the call records its delivery. The clients of other attempts may have gone. */
const DELIVER: Statement = {
  name: 'calls.deliver',
  text: `
    with held as (
      select id from calls join unnest($1::text[], $2::int[]) as w(id, joined_retry) using (id, joined_retry)
      order by id for update of calls
    )
    update calls c set delivered_at = now() from held where c.id = held.id`,
};

/** The writes that most calls make. Raw SQL because the writes of many calls are batched into one statement. */
@Injectable()
export class WriteCalls {
  private readonly begun = new Batch<NewCall, void>((calls) => this.insert(calls), { name: BEGIN.name });
  private readonly attached = new Batch<[id: string, taskId: string], void>(
    (pairs) => this.run(ATTACH, [pairs.map(([id]) => id), pairs.map(([, taskId]) => taskId)]),
    { name: ATTACH.name },
  );
  private readonly delivered = new Batch<[id: string, retry: number], void>(
    (pairs) => this.run(DELIVER, [pairs.map(([id]) => id), pairs.map(([, retry]) => retry)]),
    { name: DELIVER.name },
  );

  constructor(private readonly sql: Sql) {}

  begin(call: NewCall): Promise<void> {
    return this.begun.add(call);
  }

  attach(id: string, taskId: string): Promise<void> {
    return this.attached.add([id, taskId]);
  }

  /** Call this when the outcome was written completely to an open connection. */
  deliver(id: string, retry: number): Promise<void> {
    return this.delivered.add([id, retry]);
  }

  private insert(calls: NewCall[]): Promise<void[]> {
    return this.run(BEGIN, [
      calls.map(({ id }) => id),
      calls.map(({ apiKeyId }) => apiKeyId),
      calls.map(({ path }) => path),
      calls.map(({ fingerprint }) => fingerprint),
      calls.map(({ message }) => message),
    ]);
  }

  /** Returns an empty list, because the callers of these batches need no results. */
  private async run(statement: Statement, values: unknown[]): Promise<void[]> {
    await this.sql.run(statement, values);
    return [];
  }
}

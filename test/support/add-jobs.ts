import type { DataSource, EntityManager } from 'typeorm';
import type { JobDefinition } from '../../src/platform/jobs/jobs.ts';

interface Extra {
  runAt?: Date;
}

/** Queues as the acts do: in the caller's transaction, many in one statement. */
export async function addJobs<Payload extends object>(
  tx: DataSource | EntityManager,
  job: JobDefinition<Payload>,
  items: ({ payload: Payload } & Extra)[],
): Promise<void> {
  const specs = items.map(({ payload, runAt }) => ({ payload, run_at: runAt ?? null }));
  await tx.query(
    `select count(*) from graphile_worker.add_jobs((
       select array_agg(row($1, payload, null, run_at, null, null, null, null)::graphile_worker.job_spec)
         from json_to_recordset($2::json) as spec (payload json, run_at timestamptz)))`,
    [job.name, JSON.stringify(specs)],
  );
}

export async function addJob<Payload extends object>(
  tx: DataSource | EntityManager,
  job: JobDefinition<Payload>,
  payload: Payload,
  extra: Extra = {},
): Promise<void> {
  await addJobs(tx, job, [{ payload, ...extra }]);
}

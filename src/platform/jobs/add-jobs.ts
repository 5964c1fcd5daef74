/** Anything that runs a statement: TypeORM's EntityManager or DataSource, or a client inside `Sql.transaction`. */
export interface JobTransaction {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** A row for graphile_worker.add_jobs, with its names. */
export interface JobSpec {
  identifier: string;
  payload: object;
  run_at: Date | null;
  max_attempts: number;
  job_key: string | null;
  priority: number;
}

/** The queue keeps priorities as smallint, and refuses what does not fit. */
const MAX_PRIORITY = 32_767;

/** One statement however many jobs, so that a transaction notifies the workers once. */
export async function addJobs(tx: JobTransaction, specs: JobSpec[]): Promise<void> {
  const rows = withoutRepeatedKeys(specs).map((spec) => ({
    ...spec,
    priority: Math.max(0, Math.min(MAX_PRIORITY, Math.trunc(spec.priority))),
  }));
  if (rows.length === 0) return;
  await tx.query(
    `select count(*) from graphile_worker.add_jobs((
       select array_agg((identifier, payload, null, run_at, max_attempts, job_key, priority, null)::graphile_worker.job_spec)
         from json_to_recordset($1::json) as spec
              (identifier text, payload json, run_at timestamptz, max_attempts smallint, job_key text, priority smallint)))`,
    [JSON.stringify(rows)],
  );
}

/** The statement may touch a key once only. Sorted by key, so that two of them cannot lock each other out. */
function withoutRepeatedKeys(specs: JobSpec[]): JobSpec[] {
  const byKey = new Map(specs.map((spec, index) => [spec.job_key ?? index, spec]));
  return [...byKey.values()].sort((a, b) => ((a.job_key ?? '') < (b.job_key ?? '') ? -1 : 1));
}

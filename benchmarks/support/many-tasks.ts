import type { Client } from 'pg';

/** Rows that one statement inserts. */
const CHUNK = 50_000;
/** API keys that share the database with the measured one, which owns every second task. */
const NEIGHBOURS = 9;
const DAY_MS = 86_400_000;
/**
 * Days over which the finished tasks are spread. They are within the retention of 30 days; files are deleted after 7.
 */
const DAYS = 25;

/**
 * The first ten characters of a task's id are its time in milliseconds, five bits each. Any sixteen further characters
 * make it valid.
 */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME = [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]
  .map((shift) => `substr('${DIGITS}', (ms >> ${shift} & 31)::int + 1, 1)`)
  .join(' || ');

/**
 * The id, time and key of each numbered task. $1: the measured key; $2, $3: first and last number; $4: time of number
 * 0; $5: interval. Times are in ms.
 */
const NUMBERED = `
  select nth, to_timestamp(ms / 1000.0) as at, 'task_' || ${TIME} || 'e' || substr(md5(nth || '/' || ms), 1, 15) as id,
         case when nth % 2 = 0 then $1::text else 'key_neighbour_' || nth % ${NEIGHBOURS} end as api_key_id
  from (select nth, ($4::float8 + nth * $5::float8)::bigint as ms from generate_series($2::bigint, $3::bigint) as nth) as n`;

const FINISHED_COLUMNS = `id, api_key_id, kind, model, status, progress, sequence, input, metadata, created_at, started_at, completed_at, deadline_at,
    expires_at, attempt, provider, provider_url, submitted_at, result, error, files_expire_at, files_purged`;

const FINISHED_ROWS = `
  select id, api_key_id, kind, case kind when 'image' then 'gpt-image-2' else 'sora-2' end, status,
         case status when 'failed' then 40 else 100 end, 6,
         json_build_object('prompt', 'A lighthouse at dusk, number ' || nth || ', waves breaking on the rocks below, oil on canvas',
                           'aspect_ratio', '16:9', 'resolution', case kind when 'image' then '1K' else '720P' end, 'n', 1),
         case when nth % 3 = 0 then jsonb_build_object('order', nth::text, 'shop', 'north') else '{}' end,
         at, at + interval '1 s', at + interval '9 s', at + interval '1 h', at + interval '30 days', 1, 'sandbox', '',
         at + interval '1 s',
         case status when 'succeeded' then json_build_array(json_build_object(
           'id', 'file_' || substr(id, 6) || '_0', 'index', 0, 'type', kind, 'storage_key', id || '/1-0',
           'content_type', case kind when 'image' then 'image/png' else 'video/mp4' end, 'size_bytes', 1000000 + nth % 1000000,
           'width', 1536, 'height', 864, 'sha256', encode(sha256(id::bytea), 'hex'))) end,
         case status when 'failed' then json_build_object(
           'code', 'provider_rejected', 'message', 'The provider did not accept this request.', 'retryable', false) end,
         case status when 'succeeded' then at + interval '7 days' end,
         status = 'succeeded' and at < now() - interval '7 days'
  from (select *, case when nth % 5 = 1 then 'video' else 'image' end as kind,
               case when nth % 17 = 3 then 'failed' else 'succeeded' end as status
        from (${NUMBERED}) as numbered) as wanted`;

const FINISHED = `
  with added as (insert into tasks_done (${FINISHED_COLUMNS}) ${FINISHED_ROWS}
  returning *)
  insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, provider, resolution, source, metadata, images,
                            video_seconds, submits, cost_micros, basis, rolled_up)
  select id, api_key_id, completed_at, status, kind, model, provider, input->>'resolution', source, nullif(metadata, '{}'),
         case when kind = 'image' and status = 'succeeded' then 1 else 0 end,
         case when kind = 'video' and status = 'succeeded' then 4 else 0 end, 1, 40000, 'priced', true
  from added`;

const QUEUED = `
  insert into tasks_live (id, api_key_id, kind, model, status, input, metadata, created_at, deadline_at, expires_at, place)
  select id, api_key_id, 'image', 'gpt-image-2', 'queued',
         '{"prompt":"A lighthouse at dusk","aspect_ratio":"16:9","resolution":"1K","n":1}', '{"order":"42"}',
         at, now() + interval '1 h', at + interval '30 days',
         1000 * row_number() over (partition by api_key_id order by nth)
  from (${NUMBERED}) as wanted`;

/**
 * Inserts finished tasks and their rows in the ledger with plain SQL. The newest task is a minute old. Every second
 * task belongs to the given key.
 */
export async function addFinished(db: Client, apiKeyId: string, count: number): Promise<void> {
  const [from, to] = [Date.now() - DAYS * DAY_MS, Date.now() - 60_000];
  const step = (to - from) / count;
  await db.query('set synchronous_commit = off');
  for (let first = 1; first <= count; first += CHUNK) {
    await db.query(FINISHED, [apiKeyId, first, Math.min(first + CHUNK - 1, count), from, step]);
  }
}

/**
 * Inserts queued tasks in one commit, with their counters. The tasks are an hour old, so that a list of the newest
 * tasks returns the same as without them.
 */
export async function addQueued(db: Client, apiKeyId: string, count: number): Promise<void> {
  await db.query('begin');
  await db.query(QUEUED, [apiKeyId, 1, count, Date.now() - 2 * 3_600_000, 3_600_000 / count]);
  await countQueued(db);
  await db.query('commit');
}

/** Corrects the counters of queued tasks after rows were inserted or deleted with plain SQL. */
export async function countQueued(db: Client): Promise<void> {
  await db.query(`
    insert into key_load (api_key_id)
    select distinct api_key_id from tasks_live where attempt = 0 on conflict do nothing`);
  await db.query(`
    update key_load l
    set queued = (select count(*) from tasks_live t where t.api_key_id = l.api_key_id and t.attempt = 0)`);
}

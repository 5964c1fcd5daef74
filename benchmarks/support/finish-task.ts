import pg from 'pg';

/** Ends the task with one image, as a worker would. */
export async function finishTask(databaseUrl: string, taskId: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const output = {
    id: `${taskId.replace('task_', 'file_')}_0`,
    index: 0,
    type: 'image',
    storage_key: `${taskId}/1-0.png`,
    content_type: 'image/png',
    size_bytes: 123_456,
    width: 1024,
    height: 1024,
    sha256: 'ab'.repeat(32),
  };
  await client.query(
    `with gone as (delete from tasks_live where id = $1 returning *)
     insert into tasks_done (id, api_key_id, kind, model, status, progress, sequence, input, metadata, created_at, started_at, completed_at,
                             deadline_at, expires_at, result, files_expire_at)
     select id, api_key_id, kind, model, 'succeeded', 100, 3, input, metadata, created_at, now(), now(), deadline_at, expires_at, $2,
            now() + interval '7 days' from gone`,
    [taskId, JSON.stringify([output])],
  );
  await client.end();
}

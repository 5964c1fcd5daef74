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
    `update tasks set status = 'succeeded', progress = 100, sequence = 3, started_at = now(), completed_at = now(), result = $2,
            files_expire_at = now() + interval '7 days' where id = $1`,
    [taskId, JSON.stringify([output])],
  );
  await client.end();
}

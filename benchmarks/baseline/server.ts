// The baseline, written by hand: bare Fastify and pg on the same database, with one prepared statement per request. It
// has no validation, no API key, no queue and no limits. Arguments: port, connection string, the columns that the
// service reads for a list of tasks.
import { fastify } from 'fastify';
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const [port, connectionString, columns] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 20 });
await pool.query(`
  create table if not exists baseline_tasks (
    id text primary key, model text not null, status text not null, progress int not null, input jsonb not null,
    created_at timestamptz not null default now())`);

const app = fastify();
app.post('/tasks', async (request, reply) => {
  const id = randomUUID();
  const body = request.body as { model: string };
  await pool.query({
    name: 'create',
    text: `insert into baseline_tasks (id, model, status, progress, input) values ($1, $2, 'queued', 0, $3)`,
    values: [id, body.model, body],
  });
  reply.code(201);
  return { task_id: id, model: body.model, status: 'queued', progress: 0, input: body };
});
app.get('/tasks/:id', async (request) => {
  const { id } = request.params as { id: string };
  const { rows } = await pool.query({ name: 'read', text: 'select * from baseline_tasks where id = $1', values: [id] });
  return rows[0];
});
app.get('/tasks', async () => {
  const text = 'select * from baseline_tasks order by id desc limit 20';
  return { data: (await pool.query({ name: 'list', text })).rows };
});
app.get('/tasks/same-columns', async () => {
  const text = `select ${columns} from tasks order by id desc limit 20`;
  return { data: (await pool.query({ name: 'list same columns', text })).rows };
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.send?.('ready');

// The pipeline of a task, written by hand with BullMQ: bare Fastify and pg, with one statement for each step of each
// task and the queue in Redis. The provider that answers at once, the inspection of the image and the storage are the
// service's own. This program has no API key, no validation, no lease and no fencing. Arguments: port, database, Redis,
// folder of the files, webhook receiver.
import { type Job, Queue, QueueEvents, Worker } from 'bullmq';
import { fastify } from 'fastify';
import { createHmac, randomUUID } from 'node:crypto';
import pg from 'pg';
import sharp from 'sharp';

const [port, connectionString, redisUrl, folder, webhookUrl] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const built = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { DiskStorage } = await built('platform/storage/disk.storage.js');
const { probe } = await built('generation/images/probe.js');

const pool = new pg.Pool({ connectionString, max: 20 });
await pool.query(`
  create table if not exists bullmq_tasks (
    id text primary key, model text not null, status text not null, progress int not null, input jsonb not null, result jsonb,
    created_at timestamptz not null, completed_at timestamptz)`);

const connection = { url: redisUrl };
const redis = { connection, prefix: port }; // the prefix separates its queues from other users of this Redis
const kept = { removeOnComplete: true, attempts: 8, backoff: { type: 'exponential', delay: 5000 } };
const tasks = new Queue<{ id: string }>('tasks', redis);
const webhooks = new Queue<{ id: string; body: string }>('webhooks', redis);
const ends = new QueueEvents('tasks', redis);
const storage = new DiskStorage(folder);
const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#345' } })
  .png()
  .toBuffer();

async function generate({ data: { id } }: Job<{ id: string }>): Promise<void> {
  await pool.query({ name: 'start', text: `update bullmq_tasks set status = 'running' where id = $1`, values: [id] });
  const { width, height, contentType, extension } = await probe(picture);
  await storage.put(`${id}/0.${extension}`, picture, contentType);
  const result = { outputs: [{ width, height, content_type: contentType, size_bytes: picture.length }] };
  const { rows } = await pool.query({
    name: 'end',
    text: `update bullmq_tasks set status = 'succeeded', progress = 100, result = $2, completed_at = now() where id = $1 returning *`,
    values: [id, result],
  });
  if (webhookUrl) await webhooks.add('deliver', { id: randomUUID(), body: JSON.stringify(rows[0]) }, kept);
}

async function deliver({ data: { id, body } }: Job<{ id: string; body: string }>): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', 'secret').update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-signature': `v1,${signature}` };
  const reply = await fetch(webhookUrl, { method: 'POST', headers, body });
  await reply.arrayBuffer();
  if (!reply.ok) throw new Error(String(reply.status));
}

const workers = [
  new Worker('tasks', generate, { ...redis, concurrency: 50 }),
  new Worker('webhooks', deliver, { ...redis, concurrency: 20 }),
];
await Promise.all([...workers.map((worker) => worker.waitUntilReady()), ends.waitUntilReady()]);

const app = fastify();
app.post('/tasks', async (request, reply) => {
  const id = randomUUID();
  const body = request.body as { model: string };
  const created = new Date();
  await pool.query({
    name: 'create',
    text: `insert into bullmq_tasks (id, model, status, progress, input, created_at) values ($1, $2, 'queued', 0, $3, $4)`,
    values: [id, body.model, body, created],
  });
  const job = await tasks.add('generate', { id }, kept);
  let status = 'queued';
  if (request.headers.prefer) {
    await job.waitUntilFinished(ends);
    status = 'succeeded';
  }
  reply.code(201);
  return { task_id: id, model: body.model, status, input: body };
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.once('SIGTERM', async () => {
  await app.close();
  await Promise.all([...workers, tasks, webhooks, ends].map((part) => part.close()));
  await pool.end();
});
process.send?.('ready');

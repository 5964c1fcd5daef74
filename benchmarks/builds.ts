/**
 * Is this build as fast as another one, such as that of the commit before? Both run on one database and alternate.
 *
 *     npm run bench -- builds <folder of the other clone, built> [rounds, 5] [seconds a round, 2]
 *
 * The ratio is this / other: above 1 this build is faster. `work` is the processor time of one request in microseconds,
 * of the process and PostgreSQL together; its ratio is other / this. The control compares two processes of this build,
 * so a difference of its ratio from 1 is noise. The database has the migrations of this build, and the other build must
 * run on it.
 *
 * Whole tasks are measured too, from the request to the end of the task, with a provider that answers at once. There
 * each build has its own database, because a build would also work on the tasks of the other.
 */
import type autocannon from 'autocannon';
import { join, resolve } from 'node:path';
import { compare } from './support/compare.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';
import { BuildPipeline } from './support/build-pipeline.ts';

const [folder, rounds = '5', seconds = '2'] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder of the other clone.');
const CONNECTIONS = [16, 64];
/** Tasks of one round. */
const TASKS = 1000;
const HERE = new URL('..', import.meta.url).pathname;

const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const mine = await bench.service({ ROLE: 'api' });
  const twin = await bench.service({ ROLE: 'api' });
  const other = await bench.service({ ROLE: 'api' }, join(resolve(folder), 'dist/main.js'));
  const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
  const { task_id } = await post<{ task_id: string }>(`${mine}/v1/generations`, bench.apiKey, generation);
  const create = { method: 'POST' as const, body: JSON.stringify(generation) };
  const keyed = { ...headers, 'idempotency-key': '[<id>]' };

  const measure = (url: string, path: string, options: Omit<autocannon.Options, 'url'>) => () =>
    load({ ...options, url: `${url}${path}`, duration: Number(seconds) }, bench.pidOf(url), bench.databasePid);
  const pair = (one: string, two: string, path: string, options: Omit<autocannon.Options, 'url'>) =>
    compare(Number(rounds), ['this', measure(one, path, options)], ['other', measure(two, path, options)]);

  for (const connections of CONNECTIONS) {
    const creates = { ...create, headers, connections };
    rows[`POST, ${connections}`] = await pair(mine, other, '/v1/generations', creates);
    rows[`control: POST, ${connections}`] = await pair(mine, twin, '/v1/generations', creates);
    rows[`POST with Idempotency-Key, ${connections}`] = await pair(mine, other, '/v1/generations', {
      ...create,
      headers: keyed,
      idReplacement: true,
      connections,
    });
    rows[`GET, ${connections}`] = await pair(mine, other, `/v1/tasks/${task_id}`, { headers, connections });
  }
} finally {
  await bench.close();
}

const open = (clone: string) => BuildPipeline.open(clone);
const pipelines = { mine: await open(HERE), twin: await open(HERE), other: await open(resolve(folder)) };
try {
  const side = (of: keyof typeof pipelines) => () => pipelines[of].burst(TASKS);
  rows['task, from POST to its end'] = await compare(Number(rounds), ['this', side('mine')], ['other', side('other')]);
  rows['control: task'] = await compare(Number(rounds), ['this', side('mine')], ['other', side('twin')]);
} finally {
  for (const pipeline of Object.values(pipelines)) await pipeline.close();
}
await report('builds', rows, { seconds, rounds });

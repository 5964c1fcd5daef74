/**
 * What do metrics cost the service? This build with metrics, which is the default, is compared with this build without
 * metrics.
 *
 *     npm run bench -- observed [rounds, 7] [seconds a round, 2]
 *
 * `work` is the processor time of one request or task in microseconds, of the process and PostgreSQL together. A ratio
 * of 0.97 is a loss of 3 %. The control compares two processes with metrics, so a difference of its ratio from 1 is
 * noise. Traces are off; `traces.ts` measures them.
 */
import type autocannon from 'autocannon';
import { BuildPipeline } from './support/build-pipeline.ts';
import { compare } from './support/compare.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const [rounds = '7', seconds = '2'] = process.argv.slice(2);
const CONNECTIONS = 64;
/** Tasks of one round. */
const TASKS = 1000;
const HERE = new URL('..', import.meta.url).pathname;
const NO_METRICS = new URL('support/no-metrics.ts', import.meta.url).pathname;

const rows: Record<string, object> = {};
const bench = await Bench.open();
try {
  const on = await bench.service({ ROLE: 'api' });
  const twin = await bench.service({ ROLE: 'api' });
  const off = await bench.service({ ROLE: 'api', NODE_OPTIONS: `--import ${NO_METRICS}` });
  const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } });
  const { task_id } = await post<{ task_id: string }>(`${on}/v1/generations`, bench.apiKey, JSON.parse(body));

  const measure = (url: string, path: string, options: Omit<autocannon.Options, 'url'>) => () =>
    load({ ...options, headers, url: `${url}${path}`, connections: CONNECTIONS, duration: Number(seconds) }, bench.pidOf(url), bench.databasePid); // prettier-ignore
  const questions: [name: string, path: string, options: Omit<autocannon.Options, 'url'>][] = [
    ['POST', '/v1/generations', { method: 'POST', body }],
    ['GET', `/v1/tasks/${task_id}`, {}],
  ];
  for (const [name, path, options] of questions) {
    const side = (url: string) => measure(url, path, options);
    rows[name] = await compare(Number(rounds), ['on', side(on)], ['off', side(off)]);
    rows[`control: ${name}`] = await compare(Number(rounds), ['on', side(on)], ['off', side(twin)]);
  }
} finally {
  await bench.close();
}

const open = (preload?: string) => BuildPipeline.open(HERE, preload);
const pipelines = { on: await open(), twin: await open(), off: await open(NO_METRICS) };
try {
  const side = (of: keyof typeof pipelines) => () => pipelines[of].burst(TASKS);
  rows['task, from POST to its end'] = await compare(Number(rounds), ['on', side('on')], ['off', side('off')]);
  rows['control: task'] = await compare(Number(rounds), ['on', side('on')], ['off', side('twin')]);
} finally {
  for (const pipeline of Object.values(pipelines)) await pipeline.close();
}
await report('observed', rows, { seconds, rounds });

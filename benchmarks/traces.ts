/**
 * What do traces cost a request?
 *
 *     npm run bench -- traces [seconds a round, 2] [rounds, 5]
 *
 * API processes of the real program run on one database and alternate: without traces, with traces of 5 % of the
 * requests (the default), and of all. `work_ratio` is the work without traces / the work with traces, so 0.97 is a loss
 * of 3 %. The collector receives the spans and does nothing with them. Its time is not counted.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compare } from './support/compare.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONNECTIONS = 64;

const collector = createServer((request, response) => request.resume().on('end', () => response.end()));
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const sampled = (part: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: part });

const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const off = await bench.service({ ROLE: 'api' });
  const services = {
    '5%': await bench.service({ ROLE: 'api', ...sampled('0.05') }),
    '100%': await bench.service({ ROLE: 'api', ...sampled('1') }),
  };
  const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk' };
  const { task_id: id } = await post<{ task_id: string }>(`${off}/v1/generations`, bench.apiKey, generation);

  const questions = {
    GET: (url: string) => ({ url: `${url}/v1/tasks/${id}`, headers }),
    POST: (url: string) => {
      const body = JSON.stringify(generation);
      return { url: `${url}/v1/generations`, method: 'POST' as const, headers, body };
    },
  };
  for (const [question, optionsOf] of Object.entries(questions)) {
    const round = (url: string) => () =>
      load({ ...optionsOf(url), connections: CONNECTIONS, duration: SECONDS }, bench.pidOf(url));
    for (const [part, url] of Object.entries(services)) {
      rows[`${question}, ${part}`] = await compare(ROUNDS, ['traced', round(url)], ['off', round(off)]);
    }
  }
} finally {
  await bench.close();
  collector.close();
  collector.closeAllConnections();
}
await report('traces', rows, { seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS });

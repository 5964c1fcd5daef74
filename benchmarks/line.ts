/**
 * How even is the time of a task when many are in flight?
 *
 *     npm run bench -- line [tasks a level, 10000]
 *
 * One process with ROLE=all whose provider answers at once. A level has a number of connections. Each connection
 * creates a task with `Prefer: wait`, and the next one when the answer has come. One API key may wait 200 times at
 * once, so the levels of 256 and 1,024 connections use eight keys. The times run from request to answer, in
 * milliseconds. The bounds are for the ratio to the median: 4 for p99 and 10 for p99.9. Tasks at the start of a level
 * are not counted, because they wait until code is compiled.
 */
import autocannon from 'autocannon';
import { loadavg } from 'node:os';
import { post } from './support/post.ts';
import { report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const TASKS = Number(process.argv[2] ?? 10_000);
const WARM_UP = 2_000;
const KEYS = 8;
const ONE_KEY = 200;
const LEVELS = [16, 64, 256, 1_024];
const HEADERS = { 'content-type': 'application/json', prefer: 'wait=60' };
const BODY = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk' });
const INSTANT = new URL('support/instant-provider.ts', import.meta.url).href;

const rows: Record<string, object> = {};
const loadBefore = loadavg()[0];
const bench = await Bench.open();
try {
  const url = await bench.service({ NODE_OPTIONS: `--import ${INSTANT}` });
  const made = Array.from({ length: KEYS }, () =>
    post<{ key: string }>(`${url}/v1/api_keys`, bench.apiKey, { name: 'line' }),
  );
  const keys = (await Promise.all(made)).map(({ key }) => key);
  const options = {
    url: `${url}/v1/generations`,
    method: 'POST' as const,
    timeout: 120,
    verifyBody: (body?: string | Buffer) => !!body?.includes('"status":"succeeded"'),
  };
  for (const connections of LEVELS) {
    let nth = 0;
    const setupClient = (client: autocannon.Client) => {
      client.setHeadersAndBody(
        { ...HEADERS, authorization: `Bearer ${connections > ONE_KEY ? keys[nth % KEYS] : keys[0]}` },
        BODY,
      );
      nth += 1;
    };
    await autocannon({ ...options, connections, amount: WARM_UP, setupClient });
    const { latency, duration, ...rest } = await autocannon({
      ...options,
      connections,
      amount: TASKS,
      setupClient,
    });
    if (rest.errors + rest.non2xx + rest.mismatches > 0) throw new Error(`${JSON.stringify(rest)}`);
    rows[`${connections} in flight`] = {
      tasks_per_second: Math.round(TASKS / duration),
      p50: latency.p50,
      p99: latency.p99,
      p99_9: latency.p99_9,
      p99_ratio: round2(latency.p99 / latency.p50),
      p99_9_ratio: round2(latency.p99_9 / latency.p50),
    };
  }
} finally {
  await bench.close();
}
await report('line', rows, { tasks: TASKS, load_before: loadBefore });

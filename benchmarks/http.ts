/**
 * How many requests a second does the service answer, compared with bare Fastify and pg (benchmarks/baseline/)? Both
 * alternate in the same run.
 *
 *     npm run bench -- http [seconds a round, 2] [rounds, 5] [only questions that begin so, e.g. list]
 *
 * One API process (ROLE=api) of the real program, with API key, validation and the queue entry in the same commit. A
 * separate row adds an Idempotency-Key. The finished task has an image, whose link is signed at each read. For the
 * first list the baseline reads six columns of a table of its own. For the other lists it reads the columns that the
 * service reads, from the service's tasks. The results are medians; the ratio is service / baseline, and above 1 the
 * service is faster. `work` is the processor time of one request in microseconds, of the process and PostgreSQL
 * together; its ratio is baseline / service. Other work of the machine affects `work` least.
 */
import type autocannon from 'autocannon';
import { compare } from './support/compare.ts';
import { finishTask } from './support/finish-task.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = Number(process.argv[3] ?? 5);
const ONLY = process.argv[4] ?? '';
const CONNECTIONS = [1, 16, 64, 256];
/** Tasks on a page of a list. */
const PAGE = 20;
/**
 * How many different requests for lists there are. They are more than the connections, so that few equal ones run at
 * one time.
 */
const DIFFERENT = 1024;

const { SHOWN_COLUMNS } = await import(new URL('../dist/tasks/record/task.entity.js', import.meta.url).href);
const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const [service, baseline] = [await bench.service({ ROLE: 'api' }), await bench.baseline('server', SHOWN_COLUMNS)];
  const auth = { authorization: `Bearer ${bench.apiKey}` };
  const json = { 'content-type': 'application/json' };
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
  const body = JSON.stringify(generation);

  const make = async (url: string, key: string | null) =>
    (await post<{ task_id: string }>(url, key, generation)).task_id;
  const ours = await make(`${service}/v1/generations`, bench.apiKey);
  const ended = await make(`${service}/v1/generations`, bench.apiKey);
  await finishTask(bench.databaseUrl, ended);
  const theirs = await make(`${baseline}/tasks`, null);

  const list = { url: `${service}/v1/tasks`, headers: auth };
  const sameColumns = { url: `${baseline}/tasks/same-columns` };
  // Equal requests of one turn of the event loop share a page. So each request asks with another time but finds the
  // same tasks, and each connection begins with another request.
  let clients = 0;
  const differing: autocannon.Options = {
    ...list,
    setupClient: (client) => {
      const from = (clients++ * DIFFERENT) / 256;
      const paths = Array.from(
        { length: DIFFERENT },
        (_, at) => `/v1/tasks?created_after=${1 + ((from + at) % DIFFERENT)}`,
      );
      client.setRequests(paths.map((path) => ({ path, method: 'GET', headers: auth })));
    },
  };
  type Question = [name: string, mine: autocannon.Options, bare: autocannon.Options, prepare?: () => Promise<unknown>];
  const questions: Question[] = [
    ['GET unfinished', { url: `${service}/v1/tasks/${ours}`, headers: auth }, { url: `${baseline}/tasks/${theirs}` }],
    ['GET finished', { url: `${service}/v1/tasks/${ended}`, headers: auth }, { url: `${baseline}/tasks/${theirs}` }],
    [
      'POST',
      {
        url: `${service}/v1/generations`,
        method: 'POST',
        headers: { ...auth, ...json },
        body,
      },
      { url: `${baseline}/tasks`, method: 'POST', headers: json, body },
    ],
    [
      'POST with Idempotency-Key',
      {
        url: `${service}/v1/generations`,
        method: 'POST',
        headers: { ...auth, ...json, 'idempotency-key': '[<id>]' },
        idReplacement: true,
        body,
      },
      // The baseline ignores the header, but the client does the same work.
      {
        url: `${baseline}/tasks`,
        method: 'POST',
        headers: { ...json, 'idempotency-key': '[<id>]' },
        idReplacement: true,
        body,
      },
    ],
    ['list', list, { url: `${baseline}/tasks` }, () => fillPages()],
    ['list of queued tasks, each request another one, same columns', differing, sameColumns, () => fillPages()],
    ['list of queued tasks, same columns', list, sameColumns, () => fillPages()],
    [
      'list of finished tasks, same columns',
      list,
      sameColumns,
      async () => Promise.all((await fillPages()).map((id) => finishTask(bench.databaseUrl, id))),
    ],
  ];
  const fillPages = () =>
    Promise.all(
      Array.from({ length: PAGE }, async () => {
        await make(`${baseline}/tasks`, null);
        return await make(`${service}/v1/generations`, bench.apiKey);
      }),
    );

  for (const [name, mine, bare, prepare] of questions) {
    if (!name.startsWith(ONLY)) continue;
    await prepare?.();
    // A process compiles its code while it answers: on a new process a request costs three times as much.
    for (const options of [mine, bare]) await load({ ...options, connections: 64, duration: 2 * SECONDS });
    for (const connections of CONNECTIONS) {
      const round = (url: string, options: autocannon.Options) => () =>
        load({ ...options, connections, duration: SECONDS }, bench.pidOf(url), bench.databasePid);
      rows[`${name}, ${connections}`] = await compare(
        ROUNDS,
        ['service', round(service, mine)],
        ['baseline', round(baseline, bare)],
      );
    }
  }
} finally {
  await bench.close();
}
await report('http', rows, { seconds: SECONDS, rounds: ROUNDS });

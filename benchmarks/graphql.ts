/**
 * How many tasks a second can be read by id through GraphQL, compared with `GET /v1/tasks/{id}`? Both run on the same
 * process and alternate.
 *
 *     npm run bench -- graphql [seconds a round, 2] [rounds, 5]
 *
 * `poll` selects what a client that polls reads; `all` selects every field that REST shows. The ratio is GraphQL /
 * REST: above 1 GraphQL is faster. `work` is the processor time of one request in microseconds, of the process and
 * PostgreSQL together; its ratio is REST / GraphQL.
 */
import type autocannon from 'autocannon';
import { compare } from './support/compare.ts';
import { finishTask } from './support/finish-task.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const [seconds = '2', rounds = '5'] = process.argv.slice(2);
const CONNECTIONS = [1, 16, 64];
const SELECTIONS = {
  poll: 'taskId status progress result { outputs { url } } error { code message }',
  all: `taskId object kind model status progress createdAt completedAt startedAt expiresAt input metadata source priority parentTaskId relation
    result { expiresAt outputs { id index type url urlExpiresAt contentType sizeBytes width height duration sha256 } }
    error { code message retryable } batch { id index customId } approximations { param requested used }
    usage { images videoSeconds resolution provider submits cost { amountMicros currency basis } }`,
};

const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const service = await bench.service({ ROLE: 'api' });
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
  const make = async () =>
    (await post<{ task_id: string }>(`${service}/v1/generations`, bench.apiKey, generation)).task_id;
  const tasks = { unfinished: await make(), finished: await make() };
  await finishTask(bench.databaseUrl, tasks.finished);

  const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
  const queryOf = (taskId: string, selection: string): autocannon.Options => ({
    url: `${service}/graphql`,
    method: 'POST',
    headers,
    body: JSON.stringify({
      query: `query Task($id: String!) { task(taskId: $id) { ${selection} } }`,
      variables: { id: taskId },
    }),
  });
  for (const [state, taskId] of Object.entries(tasks)) {
    for (const [name, selection] of Object.entries(SELECTIONS)) {
      const query = queryOf(taskId, selection);
      const answered = (await (
        await fetch(query.url, { method: 'POST', headers, body: query.body as string })
      ).json()) as { errors?: unknown };
      if (answered.errors) throw new Error(JSON.stringify(answered.errors));
      for (const connections of CONNECTIONS) {
        const round = (options: autocannon.Options) => () =>
          load({ ...options, connections, duration: Number(seconds) }, bench.pidOf(service), bench.databasePid);
        rows[`${state}, ${name}, ${connections}`] = await compare(
          Number(rounds),
          ['graphql', round(query)],
          ['rest', round({ url: `${service}/v1/tasks/${taskId}`, headers })],
        );
      }
    }
  }
} finally {
  await bench.close();
}
await report('graphql', rows, { seconds, rounds });

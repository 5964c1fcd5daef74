import type { INestApplicationContext, Type } from '@nestjs/common';
import { COMMAND_LINE } from '../../auth/audit/actor.ts';
import { KeyQueuesController } from '../../operations/tasks/key-queues.controller.ts';
import { LogLevelsController } from '../../operations/processes/log-levels.controller.ts';
import { SetLogLevelsInput } from '../../operations/processes/log-levels.view.ts';
import { OverviewController } from '../../operations/overview/overview.controller.ts';
import { CreatePauseInput, ListPausesQuery } from '../../operations/pauses/pause.inputs.ts';
import { PausesController } from '../../operations/pauses/pauses.controller.ts';
import { ProcessesController } from '../../operations/processes/processes.controller.ts';
import { ProvidersController } from '../../operations/providers/providers.controller.ts';
import { FailTaskInput, ListOperatorTasksQuery } from '../../operations/tasks/operator-tasks.inputs.ts';
import { OperatorTasksController } from '../../operations/tasks/operator-tasks.controller.ts';
import { OperatorWebhooksController } from '../../operations/webhooks/operator-webhooks.controller.ts';
import { ListReplaysQuery, ReplayWebhooksInput } from '../../operations/webhooks/replay.view.ts';
import { ReplaysController } from '../../operations/webhooks/replays.controller.ts';
import { ReasonInput } from '../../operations/views/reason.input.ts';
import { InputPipe } from '../../platform/http/input.pipe.ts';

interface Call {
  id: string;
  /** Checks the body as the service does, and returns it. */
  body: <Input extends object>(input: Type<Input>) => Input;
  query: <Query extends object>(query: Type<Query>) => Query;
}

type Handler = (of: INestApplicationContext, call: Call) => Promise<unknown>;

const by = COMMAND_LINE;

/** The routes that `darkroom ops` calls, and the controllers that serve them. `*` is an id. */
const ROUTES: Record<string, Handler> = {
  'GET ': (of) => of.get(OverviewController).overview(),
  'GET /processes': (of) => of.get(ProcessesController).list(),
  'POST /processes/*/drain': (of, { id, body }) => of.get(ProcessesController).drain(id, body(ReasonInput), by),
  'POST /processes/*/resume': (of, { id, body }) => of.get(ProcessesController).resume(id, body(ReasonInput), by),
  'GET /providers': (of) => of.get(ProvidersController).list(),
  'POST /providers/*/close_circuit': (of, { id, body }) =>
    of.get(ProvidersController).closeCircuit(id, body(ReasonInput), by),
  'GET /keys': (of) => of.get(KeyQueuesController).list(),
  'GET /tasks': (of, { query }) => of.get(OperatorTasksController).list(query(ListOperatorTasksQuery)),
  'GET /tasks/*': (of, { id }) => of.get(OperatorTasksController).find(id),
  'GET /tasks/*/timeline': (of, { id }) => of.get(OperatorTasksController).timeline(id),
  'POST /tasks/*/cancel': (of, { id, body }) => of.get(OperatorTasksController).cancel(id, body(ReasonInput), by),
  'POST /tasks/*/release': (of, { id, body }) => of.get(OperatorTasksController).release(id, body(ReasonInput), by),
  'POST /tasks/*/fail': (of, { id, body }) => of.get(OperatorTasksController).fail(id, body(FailTaskInput), by),
  'GET /pauses': (of, { query }) => of.get(PausesController).list(query(ListPausesQuery)),
  'POST /pauses': (of, { body }) => of.get(PausesController).create(body(CreatePauseInput), by),
  'DELETE /pauses/*': (of, { id, query }) => of.get(PausesController).end(id, query(ReasonInput), by),
  'GET /log_levels': (of) => of.get(LogLevelsController).read(),
  'PUT /log_levels': (of, { body }) => of.get(LogLevelsController).set(body(SetLogLevelsInput), by),
  'GET /webhooks': (of) => of.get(OperatorWebhooksController).overview(),
  'POST /webhooks/replay': (of, { body }) => of.get(ReplaysController).create(body(ReplayWebhooksInput), by),
  'GET /webhooks/replays': (of, { query }) => of.get(ReplaysController).list(query(ListReplaysQuery)),
  'POST /webhooks/replays/*/cancel': (of, { id }) => of.get(ReplaysController).cancel(id, by),
};

const PREFIX = '/v1/operations';
const pipe = new InputPipe();

/** Does what the route would do, but in this process and with the rights of the command line. @throws ApiError */
export async function callRoute<Answer>(
  context: INestApplicationContext,
  method: string,
  target: string,
  sent: object = {},
): Promise<Answer> {
  const [path = '', query = ''] = target.slice(PREFIX.length).split('?', 2);
  const route = `${method} ${path}`;
  for (const [pattern, handler] of Object.entries(ROUTES)) {
    const match = new RegExp(`^${pattern.replaceAll('*', '([^/]+)')}$`).exec(route);
    if (!match) continue;
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    const answer = await handler(context, {
      id: decodeURIComponent(match[1] ?? ''),
      body: (metatype) => pipe.transform(given, { type: 'body', metatype }) as never,
      query: (metatype) =>
        pipe.transform(Object.fromEntries(new URLSearchParams(query)), { type: 'query', metatype }) as never,
    });
    return answer as Answer;
  }
  throw new Error(`${route} is not served on the database.`);
}

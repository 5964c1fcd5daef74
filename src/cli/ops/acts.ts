import type { Command } from 'commander';
import { moment, past, wholeNumber } from '../terminal/options.ts';
import { type Connection, operate, opsAct, type Row, show } from './connection.ts';
import { LEVEL_FIELDS, PAUSE_FIELDS, REPLAY_FIELDS, TASK_FIELDS } from './views.ts';

const PATH = '/v1/operations';

/** The options of a command for which a reason may be given. */
interface ActOptions extends Connection {
  reason?: string;
}

interface PauseOptions extends Connection {
  model?: string;
  provider?: string;
  place?: number;
  reason: string;
  until?: number;
  refuseCreates?: true;
}

interface ReplayOptions extends Connection {
  since: number;
  until?: number;
  endpoint?: string;
  keyId?: string;
  all?: true;
}

/**
 * Adds the commands that change something. A request that adds something, or ends a pause, is sent only once. The
 * client may repeat any other request after a failure.
 */
export function addActs(ops: Command): void {
  addProcessAct(ops, 'drain', 'Let a process claim no more tasks. Once it is drained, it can be stopped.');
  addProcessAct(ops, 'resume', 'Let a drained process claim tasks again.');

  explained(ops, 'cancel', 'Cancel a task.').argument('<id>', 'task_…').action(actOnTask('cancel'));
  explained(ops, 'release', 'Take a running task away from its worker; another one continues it.')
    .argument('<id>', 'task_…')
    .action(actOnTask('release'));
  explained(ops, 'fail', 'End a task with an error.')
    .argument('<id>', 'task_…')
    .argument('<code>', 'the error code that its owner gets, such as provider_unavailable')
    .action((id: string, code: string, options: ActOptions) => actOnTask('fail', { code })(id, options));

  opsAct(ops, 'pause', 'Pause a model, a provider or one place of a provider: their tasks wait.')
    .option('--model <id>', 'the model')
    .option('--provider <name>', 'the provider')
    .option('--place <n>', 'the place, as `ops providers` numbers it', wholeNumber)
    .requiredOption('--reason <text>', 'why, for other operators')
    .option('--until <when>', 'a date, or 2h or 1d from now (default: until `ops unpause`)', moment)
    .option('--refuse-creates', 'refuse creations for the models that cannot start')
    .action(pause);
  explained(ops, 'unpause', 'End a pause.').argument('<id>', 'pause_…').action(unpause);

  explained(ops, 'close-circuit', 'Close the circuit of a place, so that all processes call it again.')
    .argument('<place>', 'its number')
    .action(async (place: string, options: ActOptions) => {
      const path = `${PATH}/providers/${encodeURIComponent(place)}/close_circuit`;
      await ask(options, ['POST', path, { reason: options.reason }], ['place', 'provider', 'host']);
    });

  opsAct(ops, 'replay', 'Resend the webhooks of a time range, those that failed or all.')
    .requiredOption('--since <when>', 'a date, or 1h or 2d ago', past)
    .option('--until <when>', 'a date, or 1h ago (default: now)', past)
    .option('--endpoint <id>', 'only to this endpoint, we_…')
    .option('--key-id <id>', 'only those of this API key, key_…')
    .option('--all', 'also those that were delivered')
    .action(replay);
  opsAct(ops, 'set-log-levels', 'Set the log levels of all processes; without options those of the configuration.')
    .option('--level <level>', 'in place of LOG_LEVEL')
    .option('--contexts <list>', 'in place of those in LOG_LEVELS, such as webhooks=debug,bus=warn')
    .action(setLogLevels);
  opsAct(ops, 'cancel-replay', 'Stop a webhook replay.')
    .argument('<id>', 'replay_…')
    .action(async (id: string, options: Connection) => {
      const path = `${PATH}/webhooks/replays/${encodeURIComponent(id)}/cancel`;
      await ask(options, ['POST', path], REPLAY_FIELDS);
    });
}

/** Adds a command for which a reason may be given. */
const explained = (ops: Command, ...act: [name: Parameters<typeof opsAct>[1], description: string]): Command =>
  opsAct(ops, ...act).option('--reason <text>', 'why, for other operators');

interface LevelOptions extends Connection {
  level?: string;
  contexts?: string;
}

/** Sets the log levels. Without options, the levels of the configuration apply again. */
async function setLogLevels({ level, contexts, ...connection }: LevelOptions): Promise<void> {
  const log_levels = Object.fromEntries(
    (contexts ?? '').split(',').flatMap((each) => (each ? [each.split('=', 2)] : [])),
  );
  const body = { log_level: level ?? null, log_levels };
  await ask(connection, ['PUT', `${PATH}/log_levels`, body], LEVEL_FIELDS);
}

function addProcessAct(ops: Command, name: 'drain' | 'resume', description: string): void {
  explained(ops, name, description)
    .argument('<id>', 'of the process')
    .action(async (id: string, options: ActOptions) => {
      await ask(
        options,
        ['POST', `${PATH}/processes/${encodeURIComponent(id)}/${name}`, { reason: options.reason }],
        ['id', 'state', 'drain_requested', 'busy'],
      );
    });
}

const actOnTask = (act: string, body?: object) => async (id: string, options: ActOptions) => {
  await ask(
    options,
    ['POST', `${PATH}/tasks/${encodeURIComponent(id)}/${act}`, { ...body, reason: options.reason }],
    TASK_FIELDS,
  );
};

/** Sends a request that may be repeated without harm. */
const ask = (
  options: Connection,
  call: [method: 'POST' | 'PUT', path: string, body?: object],
  fields: readonly string[],
) => operate(options, async (operator) => show(await operator.call<Row>(...call), fields, options));

/** Sends a request that adds something, so it is sent only once. */
const add = (options: Connection, path: string, body: object, fields: readonly string[]) =>
  operate(options, async (operator) => show((await operator.once<Row>('POST', path, body))!, fields, options));

async function pause(options: PauseOptions): Promise<void> {
  const { model, provider, place, reason, until, refuseCreates: refuse_creates } = options;
  const body = { model, provider, place, reason, until, refuse_creates };
  await add(options, `${PATH}/pauses`, body, PAUSE_FIELDS);
}

async function unpause(id: string, options: ActOptions): Promise<void> {
  const why = options.reason === undefined ? '' : `?${new URLSearchParams({ reason: options.reason })}`;
  await operate(options, async (operator) => {
    await operator.once('DELETE', `${PATH}/pauses/${encodeURIComponent(id)}${why}`);
    console.log(options.json ? JSON.stringify({ id, ended: true }, null, 2) : 'The pause has ended.');
  });
}

async function replay(options: ReplayOptions): Promise<void> {
  const { since, until, endpoint: endpoint_id, keyId: api_key_id, all } = options;
  const body = { since, until, endpoint_id, api_key_id, events: all ? 'all' : 'failed' };
  await add(options, `${PATH}/webhooks/replay`, body, REPLAY_FIELDS);
}

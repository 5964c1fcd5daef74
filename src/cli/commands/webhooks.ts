import { Command } from 'commander';
import type { WebhookDelivery, WebhookEndpoint } from '@darkroom/client';
import { connect, connected, type Connection } from '../client/connect.ts';
import { list, number, wholeNumber } from '../terminal/options.ts';
import { table } from '../terminal/table.ts';
import { take } from '../terminal/take.ts';

interface CreateOptions extends Connection {
  events?: WebhookEndpoint['events'];
  description?: string;
}

interface ListOptions extends Connection {
  limit: number;
}

const MAX_PAGE = 100;
const ENDPOINT = 'we_01jd8e5t9kf3qs7m2v4xw6yzab';

/** `darkroom webhooks …`: the endpoints that the service sends signed events to. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('Create, list, test and delete webhook endpoints.');
  addReads(webhooks);

  const create = webhooks
    .command('create')
    .description('Create an endpoint and print its secret. It is not shown again.')
    .argument('<url>', 'where the events go')
    .option('--events <events>', 'only these, such as task.completed,task.failed', list)
    .option('--description <text>', 'what it is for')
    .action(async (url: string, { events, description, ...connection }: CreateOptions) => {
      const input = { url, ...(events && { events }), ...(description !== undefined && { description }) };
      printSecret(await connect(connection).webhookEndpoints.create(input), connection);
    });
  connected(create, 'webhooks create https://shop.example/hooks --events task.completed');

  const rotate = webhooks
    .command('rotate-secret')
    .description('Give an endpoint a new secret and print it. It is not shown again.')
    .argument('<id>', 'we_…')
    .option('--keep-old-hours <hours>', 'how long the old secret signs as well', number, 0)
    .action(async (id: string, { keepOldHours, ...connection }: Connection & { keepOldHours: number }) =>
      printSecret(await connect(connection).webhookEndpoints.rotateSecret(id, keepOldHours), connection),
    );
  connected(rotate, `webhooks rotate-secret ${ENDPOINT} --keep-old-hours 24`);

  const test = webhooks
    .command('test')
    .description('Send a webhook.test event to an endpoint.')
    .argument('<id>', 'we_…')
    .action(async (id: string, options: Connection) => {
      const sent = await connect(options).webhookEndpoints.test(id);
      console.log(options.json ? JSON.stringify(sent, null, 2) : sent.event_id);
    });
  connected(test, `webhooks test ${ENDPOINT}`);

  const remove = webhooks
    .command('delete')
    .description('Delete an endpoint. Events that wait for it are not sent.')
    .argument('<id>', 'we_…')
    .action(async (id: string, options: Connection) => {
      await connect(options).webhookEndpoints.delete(id);
      if (options.json) console.log(JSON.stringify({ id, deleted: true }, null, 2));
      else console.error(`${id} is deleted.`);
    });
  connected(remove, `webhooks delete ${ENDPOINT}`);
  return webhooks;
}

function addReads(webhooks: Command): void {
  const all = webhooks
    .command('list')
    .description('List the endpoints, newest first.')
    .option('--limit <n>', 'how many endpoints at most', wholeNumber, 20)
    .action(async ({ limit, ...connection }: ListOptions) => {
      const found = await take(connect(connection).webhookEndpoints.list({ limit: Math.min(limit, MAX_PAGE) }), limit);
      console.log(connection.json ? JSON.stringify(found, null, 2) : table(found.map(rowOf)));
    });
  connected(all, 'webhooks list');

  const deliveries = webhooks
    .command('deliveries')
    .description('List the attempts to deliver to an endpoint, newest first.')
    .argument('<id>', 'we_…')
    .option('--limit <n>', 'how many attempts at most', wholeNumber, 20)
    .action(async (id: string, { limit, ...connection }: ListOptions) => {
      const query = { limit: Math.min(limit, MAX_PAGE) };
      const found = await take(connect(connection).webhookEndpoints.deliveries(id, query), limit);
      console.log(connection.json ? JSON.stringify(found, null, 2) : table(found.map(attemptOf)));
    });
  connected(deliveries, `webhooks deliveries ${ENDPOINT} --limit 5`);
}

/** Without --json, only the secret goes to stdout, so that a script can capture it. */
function printSecret(endpoint: WebhookEndpoint, { json }: Connection): void {
  if (json) return console.log(JSON.stringify(endpoint, null, 2));
  console.error(`${endpoint.id} ${endpoint.url}. This secret is not shown again:`);
  console.log(endpoint.secret);
}

const rowOf = ({ id, status, events, url }: WebhookEndpoint): Record<string, string> => ({
  id,
  status,
  events: events.join(','),
  url,
});

const attemptOf = (delivery: WebhookDelivery): Record<string, string> => ({
  event: delivery.event_type,
  event_id: delivery.event_id,
  task: delivery.task_id ?? '-',
  attempt: String(delivery.attempt),
  at: delivery.attempted_at === null ? '-' : new Date(delivery.attempted_at * 1000).toISOString(),
  outcome: String(delivery.error ?? delivery.status_code ?? '-'),
});

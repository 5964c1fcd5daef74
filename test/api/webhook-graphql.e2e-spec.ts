import { aFailure } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { Receiver, verified } from '../support/servers/receiver.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

let service: SharedService;
let receiver: Receiver;
beforeAll(async () => {
  service = await joinService();
  receiver = await Receiver.start();
});
afterAll(async () => {
  await service.close();
  await receiver.stop();
});

interface Reply {
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's
  data?: any;
  errors?: { message: string; extensions: { code: string; param?: string } }[];
}

async function ask(query: string, variables: object = {}): Promise<Reply> {
  return (await service.api.call<Reply>('POST', '/graphql', { query, variables })).body;
}

const ENDPOINT = 'id object url events description status disabledReason secretHint createdAt';

it('manages endpoints as REST does', async () => {
  const made = await ask(
    `mutation ($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) { ${ENDPOINT} secret }
  }`,
    { input: { url: receiver.url, events: ['TASK_FAILED'], description: 'Shop' } },
  );
  const { secret, ...endpoint } = made.data.createWebhookEndpoint;
  expect(secret).toMatch(/^whsec_/);
  expect(endpoint).toMatchObject({
    object: 'webhook_endpoint',
    events: ['TASK_FAILED'],
    status: 'ENABLED',
    disabledReason: null,
  });
  expect((await ask(`{ webhookEndpoints { ${ENDPOINT} } }`)).data).toEqual({ webhookEndpoints: [endpoint] });
  const { body } = await new WebhookClient(service.api).read(endpoint.id);
  expect(body).toMatchObject({
    id: endpoint.id,
    url: endpoint.url,
    secret_hint: endpoint.secretHint,
    created_at: endpoint.createdAt,
  });

  const { id } = endpoint;
  const change = `mutation ($id: String!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(id: $id, input: $input) { status description }
  }`;
  expect((await ask(change, { id, input: { status: 'DISABLED', description: 'Off' } })).data).toEqual({
    updateWebhookEndpoint: { status: 'DISABLED', description: 'Off' },
  });
  await ask(change, { id, input: { status: 'ENABLED' } });

  const rotated = await ask(`mutation { rotateWebhookSecret(id: "${id}", keepOldSecretForHours: 0.5) { secret } }`);
  await service.api.create(aFailure);
  const [first] = await receiver.until(1);
  for (const known of [secret, rotated.data.rotateWebhookSecret.secret]) verified(first, known);

  const tested = await ask(`mutation { testWebhookEndpoint(id: "${id}") { eventId } }`);
  const [, test] = await receiver.until(2);
  expect(test.event.id).toBe(tested.data.testWebhookEndpoint.eventId);
  const eventId = first.event.id;
  expect((await ask(`mutation { redeliverWebhookEvent(id: "${eventId}") { id } }`)).data).toEqual({
    redeliverWebhookEvent: { id: eventId },
  });
  await receiver.until(3);
  await new WebhookClient(service.api).ended(id, 3);
  expect((await ask(`mutation { recoverWebhookEndpoint(id: "${id}", since: 0) { events } }`)).data).toEqual({
    recoverWebhookEndpoint: { events: 0 },
  });

  const page = `query ($after: String) { webhookDeliveries(endpointId: "${id}", first: 2, after: $after) {
    edges { cursor node { id eventId eventType attempt trigger attemptedAt durationMs statusCode error nextAttemptAt } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } }`;
  const newest = (await ask(page)).data.webhookDeliveries;
  expect(newest.edges.map(({ node }: { node: { trigger: string } }) => node.trigger)).toEqual(['MANUAL', 'TEST']);
  expect(newest.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const oldest = (await ask(page, { after: newest.pageInfo.endCursor })).data.webhookDeliveries;
  expect(oldest).toMatchObject({
    edges: [
      { node: { eventId, eventType: 'TASK_FAILED', attempt: 1, trigger: 'SCHEDULED', statusCode: 200, error: null } },
    ],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });

  expect((await ask(`mutation { deleteWebhookEndpoint(id: "${id}") { id } }`)).data).toEqual({
    deleteWebhookEndpoint: { id },
  });
  expect((await ask('{ webhookEndpoints { id } }')).data).toEqual({ webhookEndpoints: [] });
});

it.each([
  ['mutation { createWebhookEndpoint(input: { url: "https://10.0.0.1/" }) { id } }', 'url_not_allowed', 'url'],
  [
    'mutation { createWebhookEndpoint(input: { url: "https://example.com", events: [] }) { id } }',
    'invalid_value',
    'events',
  ],
  ['mutation { deleteWebhookEndpoint(id: "we_none") { id } }', 'webhook_endpoint_not_found', 'id'],
  ['mutation { redeliverWebhookEvent(id: "evt_none") { id } }', 'webhook_event_not_found', 'id'],
  [
    'mutation { rotateWebhookSecret(id: "we_none", keepOldSecretForHours: 169) { secret } }',
    'value_out_of_range',
    'keep_old_secret_for_hours',
  ],
  ['mutation { recoverWebhookEndpoint(id: "we_none", since: -1) { events } }', 'value_out_of_range', 'since'],
  ['{ webhookDeliveries(endpointId: "we_none") { edges { cursor } } }', 'webhook_endpoint_not_found', 'id'],
])('refuses with the code of REST: %s', async (query, code, param) => {
  const { errors } = await ask(query);
  expect(errors?.map(({ extensions }) => [extensions.code, extensions.param])).toEqual([[code, param]]);
});

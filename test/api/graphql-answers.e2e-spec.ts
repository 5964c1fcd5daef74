// Own settings: none, but it drains the process and replays and pauses for all keys.
import {
  buildSchema,
  getNamedType,
  getNullableType,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { readFileSync } from 'node:fs';
import { snakeCase } from '../../src/platform/schema/snake-case.ts';
import { aCat, aFailure, aHang, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

let service: OwnService;
let graphql: GraphqlClient;
let receiver: Receiver;
let hooks: WebhookClient;
let files: FilesClient;
let batches: BatchClient;

beforeAll(async () => {
  service = await startOwnService();
  graphql = new GraphqlClient(service.baseUrl, service.api.key);
  receiver = await Receiver.start();
  hooks = new WebhookClient(service.api);
  files = new FilesClient(service.api);
  batches = new BatchClient(service.api);
});
afterAll(async () => {
  await graphql?.close();
  await service?.close();
  await receiver?.stop();
});

afterEach(async () => {
  await service.api.call('POST', '/v1/tasks/cancel', { filter: { created_after: 0 } });
  for (const { id } of (await hooks.list()).body.data) await hooks.remove(id);
});

type Rest = [method: string, path: string, body?: unknown];
interface Row {
  /** Makes what the operation is about. A mutation acts on one over GraphQL and on another over REST. */
  of?: () => Promise<string>;
  graphql: (id: string) => string;
  rest: (id: string) => Rest;
  /** The answer of GraphQL as REST gives it, where they differ on purpose. */
  asRest?: (answer: unknown) => unknown;
  /** Fields that a worker may change between the two. */
  but?: string[];
  /** Its numbers change from moment to moment: only that they are numbers is compared. */
  isMoving?: true;
}

const hanging = async () => {
  const { body } = await service.api.create(aHang);
  await service.api.until(body.task_id, 'running');
  return body.task_id;
};
const ended = async (body: object = aFailure) =>
  (await service.api.untilFinal((await service.api.create(body)).body.task_id)).task_id;
const apiKey = async () => (await anotherKey(service.api, { limits: { max_running: 3 }, scopes: ['tasks:read'] })).id;
const endpoint = async () => (await hooks.endpoint(receiver.url)).id;
const batch = async () => (await batches.untilEnded((await batches.of([aFailure])).id)).id;
const upload = async () => (await files.upload(await aPicture())).body.id;
const output = async () => (await service.api.get(`/v1/tasks/${await ended(aCat)}`)).body.result!.outputs[0]!.id;
const aDayAhead = () => Math.floor(Date.now() / 1000) + 86_400;
const share = async () => {
  const body = { file_ids: [await upload()], expires_at: aDayAhead() };
  return (await service.api.call<{ id: string }>('POST', '/v1/shares', body)).body.id;
};
const announced = async () => {
  const picture = await aPicture();
  const file = await files.announce(picture);
  await files.put(file, picture);
  return file.id;
};
const firstId = async (path: string, name = 'id') =>
  (await service.api.get<{ data: Record<string, string>[] }>(path)).body.data[0]![name]!;
const erased = async () => {
  const id = await apiKey();
  return (await service.api.call<{ id: string }>('DELETE', `/v1/api_keys/${id}?erase=true`)).body.id;
};
const pause = async (body = { model: 'sora-2', reason: 'x' }) =>
  (await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', body)).body.id;
/** It has ended, so that no answer depends on how far it is. */
const replay = async () => {
  const range = { since: 1, until: 2 };
  const { id } = (await service.api.call<{ id: string }>('POST', '/v1/operations/webhooks/replay', range)).body;
  const path = `/v1/operations/webhooks/replays/${id}`;
  await eventually('the replay to end', async () => (await service.api.get(path)).body.status === 'completed');
  return id;
};
/** An event that was delivered to an endpoint of this test. */
const event = async () => {
  const { id } = await hooks.endpoint(receiver.url);
  await service.api.call('POST', `/v1/webhook_endpoints/${id}/test`);
  return eventually('the delivery', async () => (await hooks.deliveries(id)).data[0]?.event_id as string);
};
const delivered = async () => {
  const { id } = await hooks.endpoint(receiver.url);
  await service.api.call('POST', `/v1/webhook_endpoints/${id}/test`);
  await hooks.ended(id, 1);
  return id;
};
const processId = () => firstId('/v1/operations/processes');
const idOnly = (answer: unknown) => ({ id: (answer as { id: string }).id });
const get = (path: (id: string) => string) => (id: string) => ['GET', path(id)] as Rest;
const post = (path: (id: string) => string, body?: unknown) => (id: string) => ['POST', path(id), body] as Rest;

/** Every operation of schema.graphql, and the request of REST that answers the same. */
const ROWS: Record<string, Row> = {
  'Query.about': { graphql: () => 'about', rest: get(() => '/v1/about') },
  'Query.apiKey': { of: apiKey, graphql: (id) => `apiKey(id: "${id}")`, rest: get((id) => `/v1/api_keys/${id}`) },
  'Query.apiKeys': { of: apiKey, graphql: () => 'apiKeys(first: 2)', rest: get(() => '/v1/api_keys?limit=2') },
  'Query.auditEvents': { of: apiKey, graphql: () => 'auditEvents(first: 1)', rest: get(() => '/v1/operations/audit_events?limit=1') }, // prettier-ignore
  'Query.batch': { of: batch, graphql: (id) => `batch(id: "${id}")`, rest: get((id) => `/v1/batches/${id}`) },
  'Query.batches': { of: batch, graphql: () => 'batches(first: 1)', rest: get(() => '/v1/batches?limit=1') },
  'Query.erasure': { of: erased, graphql: (id) => `erasure(id: "${id}")`, rest: get((id) => `/v1/erasures/${id}`) },
  'Query.erasures': { of: erased, graphql: () => 'erasures(first: 1)', rest: get(() => '/v1/erasures?limit=1') },
  'Query.estimateGeneration': { graphql: () => 'estimateGeneration(input: { model: "gpt-image-2", prompt: "A cat", n: 3 })', rest: post(() => '/v1/estimates', { model: 'gpt-image-2', prompt: 'A cat', n: 3 }) }, // prettier-ignore
  'Query.file': { of: upload, graphql: (id) => `file(id: "${id}")`, rest: get((id) => `/v1/files/${id}`) },
  'Query.files': { of: upload, graphql: () => 'files(first: 2, purpose: VISION)', rest: get(() => '/v1/files?limit=2&purpose=vision') }, // prettier-ignore
  'Query.model': { graphql: () => 'model(id: "sora-2")', rest: get(() => '/v1/models/sora-2') },
  'Query.models': { graphql: () => 'models', rest: get(() => '/v1/models') },
  'Query.shares': { of: share, graphql: () => 'shares(first: 1)', rest: get(() => '/v1/shares?limit=1') },
  'Query.task': { of: () => ended({ ...aCat, metadata: { a: 'b' } }), graphql: (id) => `task(taskId: "${id}")`, rest: get((id) => `/v1/tasks/${id}`) }, // prettier-ignore
  'Query.taskCounts': { of: ended, graphql: () => 'taskCounts(filter: { status: FAILED })', rest: get(() => '/v1/tasks/counts?status=failed') }, // prettier-ignore
  'Query.tasks': { of: ended, graphql: () => 'tasks(first: 2, filter: { kind: IMAGE, status: FAILED, model: "gpt-image-2", createdAfter: 1 })', rest: get(() => '/v1/tasks?limit=2&kind=image&status=failed&model=gpt-image-2&created_after=1') }, // prettier-ignore
  'Query.usage': { of: ended, graphql: () => 'usage(startTime: 1700000000, bucketWidth: "1M", limit: 400, groupBy: ["model"])', rest: get(() => '/v1/usage?start_time=1700000000&bucket_width=1M&limit=400&group_by=model') }, // prettier-ignore
  'Query.viewer': { of: async () => (await service.api.get<{ data: { id: string }[] }>('/v1/api_keys?limit=100')).body.data.at(-1)!.id, graphql: () => 'viewer', rest: get((id) => `/v1/api_keys/${id}`) }, // prettier-ignore
  'Query.webhookDeliveries': { of: delivered, graphql: (id) => `webhookDeliveries(endpointId: "${id}")`, rest: get((id) => `/v1/webhook_endpoints/${id}/deliveries`) }, // prettier-ignore
  'Query.webhookEndpoint': { of: endpoint, graphql: (id) => `webhookEndpoint(id: "${id}")`, rest: get((id) => `/v1/webhook_endpoints/${id}`) }, // prettier-ignore
  'Query.webhookEndpoints': { of: endpoint, graphql: () => 'webhookEndpoints', rest: get(() => '/v1/webhook_endpoints') }, // prettier-ignore
  'Query.webhookEvent': { of: event, graphql: (id) => `webhookEvent(id: "${id}")`, rest: get((id) => `/v1/webhook_events/${id}`) }, // prettier-ignore

  'Operations.auditEvents': { of: pause, graphql: (id) => `auditEvents(first: 1, action: PAUSE_CREATED, targetId: "${id}")`, rest: get((id) => `/v1/operations/audit_events?action=pause.created&target_id=${id}`) }, // prettier-ignore
  'Operations.keys': { isMoving: true, of: hanging, graphql: () => 'keys', rest: get(() => '/v1/operations/keys') },
  'Operations.logLevels': { graphql: () => 'logLevels', rest: get(() => '/v1/operations/log_levels') },
  'Operations.overview': { isMoving: true, graphql: () => 'overview', rest: get(() => '/v1/operations') },
  'Operations.pauses': { of: pause, graphql: () => 'pauses(first: 1)', rest: get(() => '/v1/operations/pauses?limit=1') }, // prettier-ignore
  'Operations.process': { isMoving: true, of: processId, graphql: (id) => `process(id: "${id}")`, rest: get((id) => `/v1/operations/processes/${id}`) }, // prettier-ignore
  'Operations.processes': { isMoving: true, graphql: () => 'processes', rest: get(() => '/v1/operations/processes') },
  'Operations.providers': { isMoving: true, graphql: () => 'providers', rest: get(() => '/v1/operations/providers') },
  'Operations.queueHistory': { isMoving: true, graphql: () => 'queueHistory(minutes: 2)', rest: get(() => '/v1/operations/queue_history?minutes=2') }, // prettier-ignore
  'Operations.task': { of: hanging, graphql: (id) => `task(taskId: "${id}")`, rest: get((id) => `/v1/operations/tasks/${id}`) }, // prettier-ignore
  'Operations.tasks': { of: hanging, graphql: () => 'tasks(first: 1, filter: { model: "gpt-image-2", state: null })', rest: get(() => '/v1/operations/tasks?limit=1&model=gpt-image-2') }, // prettier-ignore
  'Operations.webhookReplay': { of: replay, graphql: (id) => `webhookReplay(id: "${id}")`, rest: get((id) => `/v1/operations/webhooks/replays/${id}`) }, // prettier-ignore
  'Operations.webhookReplays': { of: replay, graphql: () => 'webhookReplays(first: 1)', rest: get(() => '/v1/operations/webhooks/replays?limit=1') }, // prettier-ignore
  'Operations.webhooks': { isMoving: true, graphql: () => 'webhooks', rest: get(() => '/v1/operations/webhooks') },

  'Mutation.cancelBatch': { of: batch, graphql: (id) => `cancelBatch(id: "${id}")`, rest: post((id) => `/v1/batches/${id}/cancel`) }, // prettier-ignore
  'Mutation.cancelOperatorTask': { of: hanging, graphql: (id) => `cancelOperatorTask(taskId: "${id}")`, rest: post((id) => `/v1/operations/tasks/${id}/cancel`) }, // prettier-ignore
  'Mutation.cancelOperatorTasks': { graphql: () => 'cancelOperatorTasks(filter: { model: "sora-2", state: null })', rest: post(() => '/v1/operations/tasks/cancel', { filter: { model: 'sora-2' } }) }, // prettier-ignore
  'Mutation.cancelTask': { of: hanging, graphql: (id) => `cancelTask(taskId: "${id}")`, rest: post((id) => `/v1/tasks/${id}/cancel`) }, // prettier-ignore
  'Mutation.cancelTasks': {
    of: hanging,
    graphql: (id) => `cancelTasks(taskIds: ["${id}", "${id}", "none"])`,
    rest: (id) => ['POST', '/v1/tasks/cancel', { ids: [id, id, 'none'] }],
    asRest: (answer) => {
      const outcomes = (answer as { outcome: string }[]).map(({ outcome }) => outcome);
      return Object.fromEntries(['cancelled', 'already_final', 'not_found'].map((name) => [name, outcomes.filter((each) => each === name).length])); // prettier-ignore
    },
  },
  'Mutation.cancelWebhookReplay': { of: replay, graphql: (id) => `cancelWebhookReplay(id: "${id}")`, rest: post((id) => `/v1/operations/webhooks/replays/${id}/cancel`) }, // prettier-ignore
  'Mutation.closeCircuit': { isMoving: true, graphql: () => 'closeCircuit(place: 1)', rest: post(() => '/v1/operations/providers/1/close_circuit') }, // prettier-ignore
  'Mutation.completeUpload': { of: announced, graphql: (id) => `completeUpload(id: "${id}")`, rest: post((id) => `/v1/files/${id}/complete`) }, // prettier-ignore
  'Mutation.createApiKey': { graphql: () => 'createApiKey(input: { name: "shop", scopes: [TASKS_READ], expiresAt: 4000000000, limits: { maxRunning: 3 } })', rest: post(() => '/v1/api_keys', { name: 'shop', scopes: ['tasks:read'], expires_at: 4_000_000_000, limits: { max_running: 3 } }) }, // prettier-ignore
  'Mutation.createArchive': { of: upload, graphql: (id) => `createArchive(fileIds: ["${id}"])`, rest: (id) => ['POST', '/v1/files/archive', { file_ids: [id] }] }, // prettier-ignore
  'Mutation.createBatch': { graphql: () => 'createBatch(input: { requests: [{ body: { model: "gpt-image-2", prompt: "#hang" } }], metadata: { a: "b" } })', rest: post(() => '/v1/batches', { requests: [{ body: aHang }], metadata: { a: 'b' } }) }, // prettier-ignore
  'Mutation.createGeneration': { graphql: () => 'createGeneration(input: { model: "gpt-image-2", prompt: "#hang", aspectRatio: "3:2", referenceImages: [], metadata: { a: "b" } })', rest: post(() => '/v1/generations', { ...aHang, aspect_ratio: '3:2', reference_images: [], metadata: { a: 'b' } }) }, // prettier-ignore
  'Mutation.createPause': { graphql: () => 'createPause(input: { model: "sora-2", provider: null, reason: "incident", until: null, refuseCreates: null })', rest: post(() => '/v1/operations/pauses', { model: 'sora-2', reason: 'incident' }) }, // prettier-ignore
  'Mutation.createShare': { of: upload, but: ['file_ids'], graphql: (id) => `createShare(input: { fileIds: ["${id}"], expiresAt: ${aDayAhead()} })`, rest: (id) => ['POST', '/v1/shares', { file_ids: [id], expires_at: aDayAhead() }] }, // prettier-ignore
  'Mutation.createUpload': { graphql: () => 'createUpload(input: { filename: "a.png", bytes: 100, contentType: "image/png", purpose: VISION })', rest: post(() => '/v1/files', { filename: 'a.png', bytes: 100, content_type: 'image/png', purpose: 'vision' }) }, // prettier-ignore
  'Mutation.createWebhookEndpoint': { graphql: () => `createWebhookEndpoint(input: { url: "${receiver.url}", events: [TASK_FAILED], description: "Shop" })`, rest: () => ['POST', '/v1/webhook_endpoints', { url: receiver.url, events: ['task.failed'], description: 'Shop' }] }, // prettier-ignore
  'Mutation.deleteFile': { of: upload, graphql: (id) => `deleteFile(id: "${id}")`, rest: (id) => ['DELETE', `/v1/files/${id}`] }, // prettier-ignore
  'Mutation.deleteShare': { of: share, graphql: (id) => `deleteShare(id: "${id}")`, rest: (id) => ['DELETE', `/v1/shares/${id}`] }, // prettier-ignore
  'Mutation.deleteTask': { of: ended, graphql: (id) => `deleteTask(taskId: "${id}")`, rest: (id) => ['DELETE', `/v1/tasks/${id}`] }, // prettier-ignore
  'Mutation.deleteWebhookEndpoint': { of: endpoint, graphql: (id) => `deleteWebhookEndpoint(id: "${id}")`, rest: (id) => ['DELETE', `/v1/webhook_endpoints/${id}`] }, // prettier-ignore
  'Mutation.keepFile': { of: output, but: ['filename'], graphql: (id) => `keepFile(id: "${id}", collection: "Covers")`, rest: (id) => ['PUT', `/v1/files/${id}/keep`, { collection: 'Covers' }] }, // prettier-ignore
  'Mutation.keepTask': { of: ended, graphql: (id) => `keepTask(taskId: "${id}", collection: "Covers")`, rest: (id) => ['PUT', `/v1/tasks/${id}/keep`, { collection: 'Covers' }] }, // prettier-ignore
  'Mutation.unkeepFile': { of: output, but: ['filename'], graphql: (id) => `unkeepFile(id: "${id}")`, rest: (id) => ['DELETE', `/v1/files/${id}/keep`] }, // prettier-ignore
  'Mutation.unkeepTask': { of: ended, graphql: (id) => `unkeepTask(taskId: "${id}")`, rest: (id) => ['DELETE', `/v1/tasks/${id}/keep`] }, // prettier-ignore
  'Mutation.drainProcess': { isMoving: true, but: ['state'], of: processId, graphql: (id) => `drainProcess(id: "${id}")`, rest: post((id) => `/v1/operations/processes/${id}/drain`) }, // prettier-ignore
  'Mutation.resumeProcess': { isMoving: true, but: ['state'], of: processId, graphql: (id) => `resumeProcess(id: "${id}")`, rest: post((id) => `/v1/operations/processes/${id}/resume`) }, // prettier-ignore
  'Mutation.endPause': { of: pause, graphql: (id) => `endPause(id: "${id}")`, rest: (id) => ['DELETE', `/v1/operations/pauses/${id}`] }, // prettier-ignore
  'Mutation.eraseApiKey': { of: apiKey, graphql: (id) => `eraseApiKey(id: "${id}")`, rest: (id) => ['DELETE', `/v1/api_keys/${id}?erase=true`] }, // prettier-ignore
  'Mutation.failOperatorTask': { of: hanging, graphql: (id) => `failOperatorTask(taskId: "${id}", code: INTERNAL_ERROR)`, rest: post((id) => `/v1/operations/tasks/${id}/fail`, { code: 'internal_error' }) }, // prettier-ignore
  'Mutation.failOperatorTasks': { graphql: () => 'failOperatorTasks(filter: { model: "sora-2" }, code: INTERNAL_ERROR)', rest: post(() => '/v1/operations/tasks/fail', { filter: { model: 'sora-2' }, code: 'internal_error' }) }, // prettier-ignore
  'Mutation.recoverWebhookEndpoint': { of: endpoint, graphql: (id) => `recoverWebhookEndpoint(id: "${id}", since: 0)`, rest: post((id) => `/v1/webhook_endpoints/${id}/recover`, { since: 0 }) }, // prettier-ignore
  'Mutation.redeliverWebhookEvent': { of: event, graphql: (id) => `redeliverWebhookEvent(id: "${id}")`, rest: post((id) => `/v1/webhook_events/${id}/redeliver`) }, // prettier-ignore
  'Mutation.releaseOperatorTask': { of: hanging, graphql: (id) => `releaseOperatorTask(taskId: "${id}")`, rest: post((id) => `/v1/operations/tasks/${id}/release`), but: ['attempt', 'status', 'worker_id', 'waiting_for', 'stuck'] }, // prettier-ignore
  'Mutation.releaseOperatorTasks': { graphql: () => 'releaseOperatorTasks(filter: { model: "sora-2" })', rest: post(() => '/v1/operations/tasks/release', { filter: { model: 'sora-2' } }) }, // prettier-ignore
  'Mutation.replayWebhooks': { graphql: () => 'replayWebhooks(input: { since: 1, until: 2, endpointId: null, events: null })', rest: post(() => '/v1/operations/webhooks/replay', { since: 1, until: 2 }) }, // prettier-ignore
  'Mutation.retryTask': { of: ended, graphql: (id) => `retryTask(taskId: "${id}", input: { input: { n: 3 }, metadata: null, priority: null })`, rest: post((id) => `/v1/tasks/${id}/retry`, { input: { n: 3 } }) }, // prettier-ignore
  'Mutation.revokeApiKey': { of: apiKey, graphql: (id) => `revokeApiKey(id: "${id}")`, rest: (id) => ['DELETE', `/v1/api_keys/${id}`] }, // prettier-ignore
  'Mutation.rotateApiKey': { of: apiKey, graphql: (id) => `rotateApiKey(id: "${id}", overlapHours: 1)`, rest: post((id) => `/v1/api_keys/${id}/rotate`, { overlap_hours: 1 }) }, // prettier-ignore
  'Mutation.rotateWebhookSecret': { of: endpoint, graphql: (id) => `rotateWebhookSecret(id: "${id}", keepOldSecretForHours: 0.5)`, rest: post((id) => `/v1/webhook_endpoints/${id}/rotate_secret`, { keep_old_secret_for_hours: 0.5 }) }, // prettier-ignore
  'Mutation.setLogLevels': { graphql: () => 'setLogLevels(input: {})', rest: () => ['PUT', '/v1/operations/log_levels', {}] }, // prettier-ignore
  'Mutation.testWebhookEndpoint': { of: endpoint, graphql: (id) => `testWebhookEndpoint(id: "${id}")`, rest: post((id) => `/v1/webhook_endpoints/${id}/test`) }, // prettier-ignore
  'Mutation.updateApiKey': { of: apiKey, graphql: (id) => `updateApiKey(id: "${id}", input: { name: "store", expiresAt: null, limits: { maxRunning: null, createsPerMinute: 7 } })`, rest: (id) => ['PATCH', `/v1/api_keys/${id}`, { name: 'store', expires_at: null, limits: { max_running: null, creates_per_minute: 7 } }] }, // prettier-ignore
  'Mutation.updateWebhookEndpoint': { of: endpoint, graphql: (id) => `updateWebhookEndpoint(id: "${id}", input: { status: DISABLED, description: "Off" })`, rest: (id) => ['PATCH', `/v1/webhook_endpoints/${id}`, { status: 'disabled', description: 'Off' }] }, // prettier-ignore
};
/** Those of browsers and of Relay, which have no request of REST; sessions.e2e-spec and graphql-node.e2e-spec call them. */
const ONLY_GRAPHQL = ['Query.node', 'Query.sessions', 'Mutation.endSession'];

const fieldsOf = (type: string) => Object.values((schema.getType(type) as GraphQLObjectType).getFields());
const typeOf = (name: string) => {
  const [parent, field] = name.split('.') as [string, string];
  return (schema.getType(parent) as GraphQLObjectType).getFields()[field]!.type;
};

it('has a row for every query and mutation', () => {
  const operations = ['Query', 'Mutation', 'Operations'].flatMap((type) =>
    fieldsOf(type).map(({ name }) => `${type}.${name}`),
  );
  const known = [...Object.keys(ROWS), ...ONLY_GRAPHQL, 'Query.operations'];
  expect(known.toSorted()).toEqual(operations.toSorted());
});

/** All fields that REST may have: none with an argument, and no list of another kind of thing. */
const isShared = ({ args, type }: GraphQLField<unknown, unknown>) =>
  !args.some(isRequiredArgument) && !getNamedType(type).name.endsWith('Connection');

/** What a page lists; undefined of anything else. */
function nodeOf(type: GraphQLObjectType): GraphQLOutputType | undefined {
  if (!type.name.endsWith('Connection')) return undefined;
  return (getNamedType(type.getFields().edges!.type) as GraphQLObjectType).getFields().node!.type;
}

function selectionOf(type: GraphQLOutputType, depth = 5): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const node = nodeOf(named);
  if (node) return `{ edges { node ${selectionOf(node, depth)} } }`;
  const fields = Object.values(named.getFields()).filter(
    (field) => isShared(field) && (depth > 1 || !isObjectType(getNamedType(field.type))),
  );
  return `{ ${fields.map(({ name, type: inner }) => `${name} ${selectionOf(inner, depth - 1)}`).join(' ')} }`;
}

/** The value of that type with the names and the enums of REST. */
function asRest(value: unknown, type: GraphQLOutputType): unknown {
  if (value === null || value === undefined) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return (value as unknown[]).map((each) => asRest(each, nullable.ofType));
  if (isEnumType(nullable)) {
    const { name, description } = nullable.getValue(value as string)!;
    return /`([^`]+)` in REST/.exec(description ?? '')?.[1] ?? name.toLowerCase();
  }
  if (!isObjectType(nullable)) return value;
  const node = nodeOf(nullable);
  if (node) return (value as { edges: { node: unknown }[] }).edges.map((edge) => asRest(edge.node, node));
  const fields = nullable.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [snakeCase(name), asRest(inner, fields[name]!.type)]),
  );
}

/** Both answers without what differs between two things, or between two moments. */
const VOLATILE = /^(as_of|(.*_)?(at|id|url|hint|key|secret|until|time|busy|upload|sha256))$/;
function comparable(value: unknown, row: Row, name = ''): unknown {
  if (row.isMoving && (value === null || typeof value === 'number')) return 'a number or nothing';
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((each) => comparable(each, row));
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value as object)
        .map(([key, inner]) => [key, comparable(inner, row, key)] as const)
        .filter(([key, inner]) => inner !== undefined && !row.but?.includes(key)),
    );
  return VOLATILE.test(name) ? typeof value : value;
}

const listOf = (body: unknown): unknown => {
  const { object, data } = body as { object?: string; data?: unknown[] };
  return object === 'list' && data ? data : body;
};

describe('the answer of REST is the answer of GraphQL', () => {
  it.each(Object.entries(ROWS))('%s', async (name, row) => {
    const type = typeOf(name);
    const [parent] = name.split('.');
    const first = (await row.of?.()) ?? '';
    const second = parent === 'Mutation' && row.of ? await row.of() : first;
    const operation = `result: ${row.graphql(first)} ${selectionOf(type)}`;
    const documents: Record<string, string> = { Query: `{ ${operation} }`, Mutation: `mutation { ${operation} }`, Operations: `{ operations { ${operation} } }` }; // prettier-ignore
    const answer = await graphql.ask<{ result?: unknown; operations?: { result: unknown } }>(documents[parent!]!);
    expect(answer.errors).toBeUndefined();
    const [method, path, body] = row.rest(second);
    const { status, body: answered } = await service.api.call<unknown>(method, path, body);
    expect(status).toBeLessThan(300);
    const made = asRest(answer.data.result ?? answer.data.operations?.result, type);
    const given = comparable(row.asRest ? row.asRest(made) : made, row);
    const wanted = comparable(listOf(answered ?? idOnly(made)), row);
    expect(given).toMatchObject(wanted as object);
  });
});

/** An object of GraphQL, with unquoted names. */
const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, inner]) => `${camelCase(name)}: ${literal(inner)}`);
  return `{ ${entries.join(', ')} }`;
};
const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const creation = (body: object): [string, Rest] => [
  `mutation { createGeneration(input: ${literal(body)}) { taskId } }`,
  ['POST', '/v1/generations', body],
];

describe('the refusal of REST is the refusal of GraphQL', () => {
  it.each<[string, Rest]>([
    creation({ ...aCat, aspect_ratio: '7:7' }),
    creation({ ...aCat, n: 11 }),
    creation({ ...aCat, prompt: ' ' }),
    creation({ ...aCat, model: 'dall-e' }),
    creation({ ...aCat, duration: 5 }),
    creation({ ...aCat, resolution: null }),
    creation({ ...aCat, reference_images: ['https://example.com/a.png', 'ftp://x'] }),
    creation({ ...aCat, reference_images: ['http://10.0.0.1/a.png'] }),
    creation({ ...aCat, metadata: { a: 1 } }),
    creation({ ...aCat, parent_task_id: 'none' }),
    ['{ estimateGeneration(input: { model: "x", prompt: "x" }) { object } }', ['POST', '/v1/estimates', { model: 'x', prompt: 'x' }]], // prettier-ignore
    ['mutation { cancelTask(taskId: "none") { taskId } }', ['POST', '/v1/tasks/none/cancel']],
    ['mutation { deleteTask(taskId: "none") { id } }', ['DELETE', '/v1/tasks/none']],
    ['mutation { createWebhookEndpoint(input: { url: "https://10.0.0.1/" }) { id } }', ['POST', '/v1/webhook_endpoints', { url: 'https://10.0.0.1/' }]], // prettier-ignore
    ['mutation { createWebhookEndpoint(input: { url: "https://example.com", events: [] }) { id } }', ['POST', '/v1/webhook_endpoints', { url: 'https://example.com', events: [] }]], // prettier-ignore
    ['mutation { deleteWebhookEndpoint(id: "we_none") { id } }', ['DELETE', '/v1/webhook_endpoints/we_none']],
    ['mutation { redeliverWebhookEvent(id: "evt_none") { id } }', ['POST', '/v1/webhook_events/evt_none/redeliver']],
    ['mutation { rotateWebhookSecret(id: "we_none", keepOldSecretForHours: 169) { secret } }', ['POST', '/v1/webhook_endpoints/we_none/rotate_secret', { keep_old_secret_for_hours: 169 }]], // prettier-ignore
    ['mutation { recoverWebhookEndpoint(id: "we_none", since: -1) { events } }', ['POST', '/v1/webhook_endpoints/we_none/recover', { since: -1 }]], // prettier-ignore
    ['{ webhookDeliveries(endpointId: "we_none") { edges { cursor } } }', ['GET', '/v1/webhook_endpoints/we_none/deliveries']], // prettier-ignore
    ['{ apiKey(id: "unknown") { id } }', ['GET', '/v1/api_keys/unknown']],
    ['{ apiKeys(after: "x") { edges { cursor } } }', ['GET', '/v1/api_keys?after=x']],
    ['mutation { rotateApiKey(id: "unknown", overlapHours: 169) { id } }', ['POST', '/v1/api_keys/unknown/rotate', { overlap_hours: 169 }]], // prettier-ignore
    ['mutation { createApiKey(input: { name: " " }) { id } }', ['POST', '/v1/api_keys', { name: ' ' }]],
    ['mutation { createApiKey(input: { name: "x", expiresAt: 1 }) { id } }', ['POST', '/v1/api_keys', { name: 'x', expires_at: 1 }]], // prettier-ignore
    ['{ operations { pauses(after: "x") { edges { cursor } } } }', ['GET', '/v1/operations/pauses?after=x']],
    ['mutation { failOperatorTasks(filter: {}, code: INTERNAL_ERROR) { changed } }', ['POST', '/v1/operations/tasks/fail', { filter: {}, code: 'internal_error' }]], // prettier-ignore
  ])('%s', async (document, [method, path, body]) => {
    const rest = await service.api.call<ErrorBody>(method, path, body);
    const { errors } = await graphql.ask(document);
    const of = ({ code, type, param }: { code: string; type: string; param: string | null }) => ({ code, type, param });
    expect(errors!.map(({ extensions }) => of(extensions))).toEqual([of(rest.body.error)]);
  });

  it('of a key that would give more scopes than it has', async () => {
    const { key } = await anotherKey(service.api, { scopes: ['keys:manage', 'tasks:read'] });
    const manager = new GraphqlClient(service.baseUrl, key);
    const give = async (scope: string) =>
      (await manager.ask(`mutation { createApiKey(input: { name: "x", scopes: [${scope}] }) { id } }`)).errors;
    expect(await give('TASKS_CANCEL')).toMatchObject([{ extensions: { code: 'insufficient_scope', param: 'scopes' } }]);
    expect(await give('TASKS_READ')).toBeUndefined();
  });
});

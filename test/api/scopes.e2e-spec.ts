import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { type Scope, SCOPES } from '../../src/auth/access/caller.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

/** The scope of every route that needs an API key; `any` is a key without a particular scope. */
const SCOPE_OF: Record<string, Scope | 'any'> = {
  'GET /v1/operations/tasks': 'operations:read',
  'POST /v1/operations/tasks/cancel': 'operations:manage',
  'POST /v1/operations/tasks/release': 'operations:manage',
  'POST /v1/operations/tasks/fail': 'operations:manage',
  'GET /v1/operations/tasks/{task_id}': 'operations:read',
  'GET /v1/operations/tasks/{task_id}/timeline': 'operations:read',
  'POST /v1/operations/tasks/{task_id}/cancel': 'operations:manage',
  'POST /v1/operations/tasks/{task_id}/release': 'operations:manage',
  'POST /v1/operations/tasks/{task_id}/fail': 'operations:manage',
  'POST /v1/operations/webhooks/replay': 'operations:manage',
  'GET /v1/operations/webhooks': 'operations:read',
  'GET /v1/operations/log_levels': 'operations:read',
  'PUT /v1/operations/log_levels': 'operations:manage',
  'GET /v1/operations/webhooks/replays': 'operations:read',
  'GET /v1/operations/webhooks/replays/{id}': 'operations:read',
  'POST /v1/operations/webhooks/replays/{id}/cancel': 'operations:manage',
  'GET /v1/operations': 'operations:read',
  'GET /v1/operations/keys': 'operations:read',
  'GET /v1/operations/providers': 'operations:read',
  'GET /v1/operations/queue_history': 'operations:read',
  'POST /v1/operations/providers/{place}/close_circuit': 'operations:manage',
  'GET /v1/operations/pauses': 'operations:read',
  'POST /v1/operations/pauses': 'operations:manage',
  'DELETE /v1/operations/pauses/{id}': 'operations:manage',
  'GET /v1/operations/processes': 'operations:read',
  'GET /v1/operations/processes/{id}': 'operations:read',
  'POST /v1/operations/processes/{id}/drain': 'operations:manage',
  'POST /v1/operations/processes/{id}/resume': 'operations:manage',
  'POST /v1/api_keys': 'keys:manage',
  'GET /v1/api_keys': 'keys:manage',
  'GET /v1/api_keys/{id}': 'keys:manage',
  'PATCH /v1/api_keys/{id}': 'keys:manage',
  'DELETE /v1/api_keys/{id}': 'keys:manage',
  'POST /v1/api_keys/{id}/rotate': 'keys:manage',
  'GET /v1/erasures': 'keys:manage',
  'GET /v1/erasures/{id}': 'keys:manage',
  'GET /v1/about': 'any',
  'GET /v1/session': 'any',
  'DELETE /v1/session': 'any',
  'GET /v1/models': 'any',
  'GET /v1/models/{id}': 'any',
  'POST /v1/generations': 'generations:write',
  'POST /v1/estimates': 'tasks:read',
  'GET /v1/tasks': 'tasks:read',
  'GET /v1/tasks/counts': 'tasks:read',
  'GET /v1/tasks/{task_id}': 'tasks:read',
  'GET /v1/tasks/{task_id}/estimate': 'tasks:read',
  'GET /v1/tasks/{task_id}/timeline': 'tasks:read',
  'POST /v1/tasks/{task_id}/cancel': 'tasks:cancel',
  'POST /v1/tasks/cancel': 'tasks:cancel',
  'POST /v1/tasks/{task_id}/retry': 'generations:write',
  'DELETE /v1/tasks/{task_id}': 'tasks:cancel',
  'PUT /v1/tasks/{task_id}/keep': 'generations:write',
  'DELETE /v1/tasks/{task_id}/keep': 'generations:write',
  'HEAD /v1/tasks/{task_id}/events': 'tasks:read',
  'GET /v1/tasks/{task_id}/events': 'tasks:read',
  'GET /v1/usage': 'tasks:read',
  'HEAD /v1/events': 'tasks:read',
  'GET /v1/events': 'tasks:read',
  'POST /v1/files': 'generations:write',
  'POST /v1/files/{id}/complete': 'generations:write',
  'GET /v1/files': 'tasks:read',
  'GET /v1/files/{id}': 'tasks:read',
  'HEAD /v1/files/{id}/content': 'tasks:read',
  'GET /v1/files/{id}/content': 'tasks:read',
  'GET /v1/files/{id}/preview': 'tasks:read',
  'DELETE /v1/files/{id}': 'generations:write',
  'PUT /v1/files/{id}/keep': 'generations:write',
  'DELETE /v1/files/{id}/keep': 'generations:write',
  'POST /v1/files/archive': 'tasks:read',
  'POST /v1/shares': 'generations:write',
  'GET /v1/shares': 'tasks:read',
  'DELETE /v1/shares/{id}': 'generations:write',
  'POST /v1/batches': 'generations:write',
  'GET /v1/batches': 'tasks:read',
  'GET /v1/batches/{id}': 'tasks:read',
  'POST /v1/batches/{id}/cancel': 'tasks:cancel',
  'HEAD /v1/batches/{id}/results': 'tasks:read',
  'GET /v1/batches/{id}/results': 'tasks:read',
  'HEAD /v1/batches/{id}/events': 'tasks:read',
  'GET /v1/batches/{id}/events': 'tasks:read',
  'POST /v1/images/generations': 'generations:write',
  'POST /v1/images/edits': 'generations:write',
  'POST /v1/videos': 'generations:write',
  'GET /v1/videos': 'tasks:read',
  'GET /v1/videos/{id}': 'tasks:read',
  'HEAD /v1/videos/{id}/content': 'tasks:read',
  'GET /v1/videos/{id}/content': 'tasks:read',
  'DELETE /v1/videos/{id}': 'tasks:cancel',
  'POST /v1/videos/{id}/remix': 'generations:write',
  'POST /v1/webhook_endpoints': 'webhooks:manage',
  'GET /v1/webhook_endpoints': 'webhooks:manage',
  'GET /v1/webhook_endpoints/{id}': 'webhooks:manage',
  'PATCH /v1/webhook_endpoints/{id}': 'webhooks:manage',
  'DELETE /v1/webhook_endpoints/{id}': 'webhooks:manage',
  'POST /v1/webhook_endpoints/{id}/rotate_secret': 'webhooks:manage',
  'POST /v1/webhook_endpoints/{id}/test': 'webhooks:manage',
  'GET /v1/webhook_endpoints/{id}/deliveries': 'webhooks:manage',
  'POST /v1/webhook_endpoints/{id}/recover': 'webhooks:manage',
  'GET /v1/webhook_endpoints/{id}/stats': 'webhooks:manage',
  'GET /v1/webhook_events/{id}': 'webhooks:manage',
  'POST /v1/webhook_events/{id}/redeliver': 'webhooks:manage',
};

/** Either of two scopes opens these. */
const EITHER_SCOPE: readonly [string, readonly Scope[]][] = [
  ['GET /v1/operations/audit_events', ['operations:read', 'keys:manage']],
];
const EITHER_SCOPE_GRAPHQL: readonly [string, string, readonly Scope[]][] = [
  ['query auditEvents', '{ edges { cursor } }', ['operations:read', 'keys:manage']],
];

/** The scope of every GraphQL root field, with arguments and a selection that make it a valid document. */
const GRAPHQL: Record<string, [Scope | 'any', string]> = {
  'query viewer': ['any', '{ id }'],
  'query about': ['any', '{ version }'],
  'query sessions': ['any', '{ id }'],
  'mutation endSession': ['any', '(id: "unknown") { id }'],
  'query node': ['any', '(id: "unknown") { id }'],
  'query apiKeys': ['keys:manage', '{ edges { cursor } }'],
  'query apiKey': ['keys:manage', '(id: "unknown") { id }'],
  'mutation createApiKey': ['keys:manage', '(input: { name: " " }) { id }'],
  'mutation updateApiKey': ['keys:manage', '(id: "unknown", input: {}) { id }'],
  'mutation rotateApiKey': ['keys:manage', '(id: "unknown") { id }'],
  'mutation revokeApiKey': ['keys:manage', '(id: "unknown") { id }'],
  'mutation eraseApiKey': ['keys:manage', '(id: "unknown") { id }'],
  'query erasure': ['keys:manage', '(id: "unknown") { id }'],
  'query erasures': ['keys:manage', '{ edges { cursor } }'],
  'query models': ['any', '{ id }'],
  'query model': ['any', '(id: "unknown") { id }'],
  'query task': ['tasks:read', '(taskId: "unknown") { taskId }'],
  'query tasks': ['tasks:read', '{ edges { cursor } }'],
  'query taskCounts': ['tasks:read', '{ queued }'],
  'query file': ['tasks:read', '(id: "unknown") { id }'],
  'query files': ['tasks:read', '{ edges { cursor } }'],
  'mutation createUpload': [
    'generations:write',
    '(input: { filename: "a", bytes: 1, contentType: "image/png" }) { id }',
  ],
  'mutation completeUpload': ['generations:write', '(id: "unknown") { id }'],
  'mutation deleteFile': ['generations:write', '(id: "unknown") { id }'],
  'mutation keepFile': ['generations:write', '(id: "unknown") { id }'],
  'mutation unkeepFile': ['generations:write', '(id: "unknown") { id }'],
  'mutation keepTask': ['generations:write', '(taskId: "unknown") { taskId }'],
  'mutation unkeepTask': ['generations:write', '(taskId: "unknown") { taskId }'],
  'mutation createArchive': ['tasks:read', '(fileIds: ["unknown"]) { url }'],
  'query shares': ['tasks:read', '{ edges { cursor } }'],
  'mutation createShare': ['generations:write', '(input: { fileIds: ["unknown"], expiresAt: 1 }) { id }'],
  'mutation deleteShare': ['generations:write', '(id: "unknown") { id }'],
  'query estimateGeneration': ['tasks:read', '(input: { model: "unknown", prompt: "x" }) { object }'],
  'query batch': ['tasks:read', '(id: "unknown") { id }'],
  'query batches': ['tasks:read', '{ edges { cursor } }'],
  'mutation createBatch': ['generations:write', '(input: { requests: [] }) { id }'],
  'mutation cancelBatch': ['tasks:cancel', '(id: "unknown") { id }'],
  'subscription batchUpdated': ['tasks:read', '(id: "unknown") { id }'],
  'query usage': ['tasks:read', '(startTime: 0) { asOf }'],
  'query operations': ['operations:read', '{ overview { version } }'],
  'subscription operationsUpdated': ['operations:read', '{ overview { version } }'],
  'mutation createPause': ['operations:manage', '(input: { reason: "x" }) { id }'],
  'mutation endPause': ['operations:manage', '(id: "unknown") { id }'],
  'mutation drainProcess': ['operations:manage', '(id: "unknown") { id }'],
  'mutation resumeProcess': ['operations:manage', '(id: "unknown") { id }'],
  'mutation cancelOperatorTask': ['operations:manage', '(taskId: "unknown") { taskId }'],
  'mutation releaseOperatorTask': ['operations:manage', '(taskId: "unknown") { taskId }'],
  'mutation failOperatorTask': ['operations:manage', '(taskId: "unknown", code: INTERNAL_ERROR) { taskId }'],
  'mutation cancelOperatorTasks': ['operations:manage', '(filter: {}) { changed }'],
  'mutation releaseOperatorTasks': ['operations:manage', '(filter: {}) { changed }'],
  'mutation failOperatorTasks': ['operations:manage', '(filter: {}, code: INTERNAL_ERROR) { changed }'],
  'mutation closeCircuit': ['operations:manage', '(place: 0) { place }'],
  'mutation replayWebhooks': ['operations:manage', '(input: { since: 1, until: 0 }) { id }'],
  'mutation setLogLevels': ['operations:manage', '(input: { logLevel: null }) { object }'],
  'mutation cancelWebhookReplay': ['operations:manage', '(id: "unknown") { id }'],
  'query webhookEndpoint': ['webhooks:manage', '(id: "unknown") { id }'],
  'query webhookEvent': ['webhooks:manage', '(id: "unknown") { id }'],
  'query webhookEndpoints': ['webhooks:manage', '{ id }'],
  'query webhookDeliveries': ['webhooks:manage', '(endpointId: "unknown") { edges { cursor } }'],
  'mutation createGeneration': ['generations:write', '(input: { model: "unknown", prompt: "x" }) { taskId }'],
  'mutation retryTask': ['generations:write', '(taskId: "unknown") { taskId }'],
  'mutation cancelTask': ['tasks:cancel', '(taskId: "unknown") { taskId }'],
  'mutation cancelTasks': ['tasks:cancel', '(taskIds: ["unknown"]) { taskId }'],
  'mutation deleteTask': ['tasks:cancel', '(taskId: "unknown") { id }'],
  'mutation createWebhookEndpoint': ['webhooks:manage', '(input: { url: "unknown" }) { id }'],
  'mutation updateWebhookEndpoint': ['webhooks:manage', '(id: "unknown", input: {}) { id }'],
  'mutation deleteWebhookEndpoint': ['webhooks:manage', '(id: "unknown") { id }'],
  'mutation rotateWebhookSecret': ['webhooks:manage', '(id: "unknown") { id }'],
  'mutation testWebhookEndpoint': ['webhooks:manage', '(id: "unknown") { eventId }'],
  'mutation recoverWebhookEndpoint': ['webhooks:manage', '(id: "unknown", since: 0) { events }'],
  'mutation redeliverWebhookEvent': ['webhooks:manage', '(id: "unknown") { id }'],
  'subscription taskUpdated': ['tasks:read', '(taskId: "unknown") { taskId }'],
  'subscription tasksUpdated': ['tasks:read', '{ taskId }'],
  'subscription webhookDelivered': ['webhooks:manage', '{ attempt }'],
};

interface OpenApi {
  paths: Record<string, Record<string, { security?: unknown[] }>>;
}

const committed = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const openApi = JSON.parse(committed('openapi.json')) as OpenApi;
const schema = buildSchema(committed('schema.graphql'));

/** Every operation without `security: []`, which marks the public ones. */
const guarded = Object.entries(openApi.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { security }]) => security?.length !== 0)
    .map(([method]) => `${method.toUpperCase()} ${path}`),
);

const rootFields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
  Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name.toLowerCase()} ${field}`),
);

describe('the scopes of the API', () => {
  let service: SharedService;
  /** A key with every scope but the one it is stored under. */
  const lacking = new Map<Scope | 'any', Api>();
  /** A key with the one scope it is stored under. */
  const having = new Map<Scope | 'any', Api>();

  beforeAll(async () => {
    service = await joinService();
    for (const scope of SCOPES) {
      lacking.set(scope, await withScopes(SCOPES.filter((other) => other !== scope)));
      having.set(scope, await withScopes([scope]));
    }
    having.set('any', await withScopes(['generations:write']));
  });
  afterAll(() => service.close());

  it('are listed here for every route that needs a key, and for every GraphQL root field', () => {
    const routes = [...Object.keys(SCOPE_OF), ...EITHER_SCOPE.map(([route]) => route)];
    expect(routes.sort()).toEqual(guarded.sort());
    const fields = [...Object.keys(GRAPHQL), ...EITHER_SCOPE_GRAPHQL.map(([field]) => field)];
    expect(fields.sort()).toEqual(rootFields.sort());
  });

  it.each(Object.entries(SCOPE_OF).filter(([, scope]) => scope !== 'any'))(
    '%s refuses a key that has all scopes but %s',
    async (route, scope) => {
      const { status, headers, body } = await ask(lacking.get(scope)!, route);
      expect(status).toBe(403);
      if (route.startsWith('HEAD ')) return expect(headers.get('content-type')).toContain('json'); // and no body
      expect([body.error.code, body.error.type]).toEqual(['insufficient_scope', 'permission_error']);
      expect(body.error.message).toContain(`"${scope}"`);
    },
  );

  it.each(Object.entries(SCOPE_OF))('%s needs no scope but %s', async (route, scope) => {
    const { status } = await ask(having.get(scope)!, route);
    expect([401, 403]).not.toContain(status);
  });

  it.each(EITHER_SCOPE)('%s needs one of %s', async (route, scopes) => {
    for (const scope of SCOPES) {
      const { status } = await ask(having.get(scope)!, route);
      expect([scope, status]).toEqual([scope, scopes.includes(scope) ? 200 : 403]);
    }
  });

  it.each(EITHER_SCOPE_GRAPHQL)('GraphQL %s%s needs one of %s', async (field, rest, scopes) => {
    for (const scope of SCOPES) {
      const error = await errorOf(having.get(scope)!, field, rest);
      expect([scope, error?.extensions.code]).toEqual([
        scope,
        scopes.includes(scope) ? undefined : 'insufficient_scope',
      ]);
    }
  });

  const graphql = Object.entries(GRAPHQL).map(([field, [scope, rest]]) => [field, scope, rest] as const);

  it.each(graphql.filter(([, scope]) => scope !== 'any'))(
    'GraphQL %s refuses a key that has all scopes but %s',
    async (field, scope, rest) => {
      const error = await errorOf(lacking.get(scope)!, field, rest);
      expect(error?.extensions.code).toBe('insufficient_scope');
      expect(error?.message).toContain(`"${scope}"`);
    },
  );

  it.each(graphql.filter(([field]) => !field.startsWith('subscription')))(
    'GraphQL %s needs no scope but %s',
    async (field, scope, rest) => {
      const error = await errorOf(having.get(scope)!, field, rest);
      expect(error?.extensions.code ?? 'none').not.toMatch(/(missing|invalid)_api_key|insufficient_scope|invalid_body/);
    },
  );

  async function withScopes(scopes: Scope[]): Promise<Api> {
    const { status, body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'x', scopes });
    expect(status).toBe(201);
    return new Api(service.baseUrl, body.key);
  }
});

/** Ids are unknown and bodies empty: the guard decides first, and a key that may pass gets 200, 400 or 404. */
async function ask(api: Api, route: string) {
  const [method, path] = route.split(' ') as [string, string];
  const abort = new AbortController();
  const reply = await fetch(new URL(path.replaceAll(/\{\w+\}/g, 'unknown'), api.baseUrl), {
    method,
    headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
    ...(['POST', 'PUT', 'PATCH'].includes(method) && { body: '{}' }),
    signal: abort.signal,
  });
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream || method === 'HEAD' ? '' : await reply.text();
  if (isStream) abort.abort();
  const body = (text === '' ? undefined : JSON.parse(text)) as ErrorBody;
  return { status: reply.status, headers: reply.headers, body };
}

/** The first error of a GraphQL operation; a subscription runs over a socket until it ends. */
async function errorOf(api: Api, field: string, rest: string) {
  const [type, name] = field.split(' ');
  const client = new GraphqlClient(api.baseUrl, api.key);
  const document = `${type} { ${name}${rest} }`;
  if (type !== 'subscription') return (await client.ask(document)).errors?.[0];
  const followed = client.follow(document);
  const [error] = await followed.ended.then(
    () => followed.events[0]?.errors ?? [],
    (errors: Awaited<ReturnType<GraphqlClient['ask']>>['errors']) => errors ?? [],
  );
  await client.close();
  return error;
}

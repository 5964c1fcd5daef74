import { Api, aCat, aFailure, aHang, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { Receiver, verified } from '../support/servers/receiver.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';
import { type EndpointBody, WebhookClient } from '../support/clients/webhook-client.ts';

let service: SharedService;
let hooks: WebhookClient;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await joinService();
});
afterAll(async () => {
  await service.close();
  for (const receiver of receivers) await receiver.stop();
});

/** Each test has its own tenant. */
let api: Api;
beforeEach(async () => {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'webhooks' });
  api = new Api(service.baseUrl, body.key);
  hooks = new WebhookClient(api);
});

async function receiver(answer?: Receiver['answer']): Promise<Receiver> {
  const started = await Receiver.start(answer);
  receivers.push(started);
  return started;
}

/** The waits of the schedule by default, seconds. */
const GAPS = [5, 30, 120, 600, 3600, 21_600, 86_400];

/** Waits until `count` attempts have failed. After each, the gap of the schedule is over at once. @returns the log */
async function failing(id: string, count: number) {
  for (let nth = 1; nth <= count; nth += 1) {
    await hooks.ended(id, nth);
    const makeDue = 'update webhook_dispatches set due_at = now() where endpoint_id = $1 and due_at > now()';
    await queryOnce(service.database.url, makeDue, [id]);
  }
  return hooks.ended(id, count);
}

/** Every read makes new values of url and url_expires_at. */
const withoutLinks = (task: unknown) =>
  JSON.parse(JSON.stringify(task, (name, value) => (name === 'url' || name === 'url_expires_at' ? undefined : value)));

describe('what is sent', () => {
  it('is the signed task exactly as GET returns it at that moment', async () => {
    const shown: TaskBody[] = [];
    const there = await receiver(async ({ event }, response) => {
      shown.push((await api.get(`/v1/tasks/${event.data.task_id}`)).body);
      response.end();
    });
    const { secret } = await hooks.endpoint(there.url);
    const { body: task } = await api.create({ ...aCat, metadata: { order: '7' } });
    const [received] = await there.until(1);
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Darkroom\//),
    });
    const event = verified(received, secret);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      object: 'event',
      type: 'task.completed',
      created_at: expect.any(Number),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ task_id: task.task_id, status: 'succeeded' }),
    });
    expect(received.headers['webhook-id']).toBe(event.id);
    expect(event.created_at).toBe(event.data.completed_at);
    expect(Math.floor(Date.parse(event.timestamp) / 1000)).toBe(event.created_at);
    await eventually('the GET on receipt', async () => shown.length > 0);
    expect(withoutLinks(event.data)).toEqual(withoutLinks(shown[0]));
    const [output] = (event.data as unknown as TaskBody).result!.outputs;
    expect((await fetch(output.url)).status).toBe(200);
  });

  it('is task.failed for a failure and for a cancelled task', async () => {
    const there = await receiver();
    await hooks.endpoint(there.url);
    const { body: failing } = await api.create(aFailure);
    await there.until(1);
    const { body: hanging } = await api.create(aHang);
    await api.cancel(hanging.task_id);
    await there.until(2);
    expect(
      there.received.map(({ event }) => [event.type, event.data.task_id, (event.data.error as TaskBody).code]),
    ).toEqual([
      ['task.failed', failing.task_id, 'content_policy_violation'],
      ['task.failed', hanging.task_id, 'task_cancelled'],
    ]);
  });

  it('goes to every endpoint of the key that subscribes to it, under one id, and to no other key', async () => {
    const [all, failures, completions, foreign] = await Promise.all([receiver(), receiver(), receiver(), receiver()]);
    await hooks.endpoint(all.url);
    await hooks.endpoint(failures.url, { events: ['task.failed'] });
    await hooks.endpoint(completions.url, { events: ['task.completed'] });
    await new WebhookClient(service.api).endpoint(foreign.url);
    await api.create(aFailure);
    await Promise.all([all.until(1), failures.until(1)]);
    expect(failures.ids).toEqual(all.ids);
    const { body: own } = await service.api.create(aFailure);
    await foreign.until(1);
    expect(foreign.received.map(({ event }) => event.data.task_id)).toEqual([own.task_id]);
    expect(completions.received).toEqual([]);
  });

  it('omits the input if the body would exceed 20 kB', async () => {
    const there = await receiver();
    await hooks.endpoint(there.url);
    await api.create({ ...aFailure, prompt: `#fail:internal_error ${'Ω'.repeat(15_000)}`, metadata: { a: 'b' } });
    const [{ body, event }] = await there.until(1);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
    expect(event.data).toMatchObject({ status: 'failed', metadata: { a: 'b' } });
    expect(event.data).not.toHaveProperty('input');
  });

  it('is sent once for each of 40 tasks, each with its own id', async () => {
    const there = await receiver();
    const { id } = await hooks.endpoint(there.url);
    const kinds = [aFailure, aFailure, aFailure, { ...aFailure, prompt: '#fail:internal_error #delay:0.1' }];
    const made = await Promise.all(Array.from({ length: 40 }, (_, at) => api.create(kinds[at % kinds.length])));
    await there.until(40);
    await hooks.ended(id, 40);
    expect(there.received).toHaveLength(40);
    expect(new Set(there.ids).size).toBe(40);
    expect(new Set(there.received.map(({ event }) => event.data.task_id))).toEqual(
      new Set(made.map(({ body }) => body.task_id)),
    );
    expect(there.mostOpen).toBeLessThanOrEqual(10);
  });
});

describe('attempts', () => {
  it('send the same id and body until one succeeds, and are all logged', async () => {
    const there = await receiver((_received, response) => {
      response.writeHead(there.received.length <= 3 ? 500 : 200).end();
    });
    const { id, secret } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    await failing(id, 3);
    const received = await there.until(4);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(there.ids).size).toBe(1);
    for (const one of received) verified(one, secret);
    const log = await hooks.ended(id, 4);
    expect(log).toMatchObject([
      {
        attempt: 1,
        status_code: 500,
        error: 'http_status',
        next_attempt_at: expect.any(Number),
        response_snippet: null, // the receiver is at an excepted address
      },
      { attempt: 2, status_code: 500, error: 'http_status', next_attempt_at: expect.any(Number) },
      { attempt: 3, status_code: 500, error: 'http_status', next_attempt_at: expect.any(Number) },
      { attempt: 4, status_code: 200, error: null, next_attempt_at: null, trigger: 'scheduled' },
    ]);
    expect(log[0]).toMatchObject({
      id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
      object: 'webhook_delivery',
      event_id: received[0].event.id,
      event_type: 'task.failed',
    });
    for (const [nth, gap] of GAPS.slice(0, 3).entries()) {
      expect(log[nth]!.next_attempt_at! - log[nth]!.attempted_at).toBeGreaterThanOrEqual(gap);
    }
  });

  it('end with the schedule: k gaps make k + 1 attempts', async () => {
    const there = await receiver((_received, response) => void response.writeHead(503).end());
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    const log = await failing(id, GAPS.length + 1);
    expect(log.at(-1)).toMatchObject({ attempt: GAPS.length + 1, error: 'http_status', next_attempt_at: null });
    const left =
      'select 1 from webhook_dispatches where endpoint_id = $1 and (due_at is not null or lease_until is not null)';
    expect(await queryOnce(service.database.url, left, [id])).toEqual([]);
    expect(there.received).toHaveLength(GAPS.length + 1);
  });

  it.each<[string, Receiver['answer'], object]>([
    [
      'a redirect',
      (_r, response) => void response.writeHead(301, { location: 'https://example.com/' }).end(),
      { status_code: 301, error: 'http_status' },
    ],
    [
      'a receiver that hangs up',
      (_r, response) => void response.destroy(),
      { status_code: null, error: 'connect_failed' },
    ],
  ])('count %s as a failure', async (_name, answer, logged) => {
    const there = await receiver(answer);
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    expect((await hooks.ended(id, 1))[0]).toMatchObject(logged);
    await hooks.remove(id);
  });

  it('use the status of a response whose body is endless, and close the connection', async () => {
    const there = await receiver((_received, response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', pour);
      pour();
    });
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    const [only] = await hooks.ended(id, 1);
    expect(only).toMatchObject({ status_code: 200, error: null, next_attempt_at: null });
    await eventually('the connection to be closed', async () => there.open === 0);
  });

  it('wait for Retry-After, up to twice the gap', async () => {
    const there = await receiver((_received, response) => {
      response.writeHead(there.received.length === 1 ? 429 : 200, { 'retry-after': '60' }).end();
    });
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    await failing(id, 1);
    const [first] = await hooks.ended(id, 2);
    expect(first).toMatchObject({ status_code: 429 });
    const wait = first!.next_attempt_at! - first!.attempted_at;
    expect(wait).toBeGreaterThanOrEqual(2 * GAPS[0]!);
    expect(wait).toBeLessThan(60);
  });

  it('fail with only the error class when no server listens', async () => {
    const there = await receiver();
    const { url } = there;
    receivers.pop();
    await there.stop();
    const { id } = await hooks.endpoint(url);
    await api.create(aFailure);
    expect((await hooks.ended(id, 1))[0]).toMatchObject({
      status_code: null,
      error: 'connect_failed',
      response_snippet: null,
    });
  });
});

describe('an endpoint', () => {
  it('shows its secret at creation and rotation only, and at most 8 characters of it afterwards', async () => {
    const made = await hooks.endpoint('https://example.com/hook', { description: 'Shop' });
    expect(made).toEqual({
      id: expect.stringMatching(/^we_[0-9a-z]{26}$/),
      object: 'webhook_endpoint',
      url: 'https://example.com/hook',
      events: ['task.completed', 'task.failed'],
      description: 'Shop',
      status: 'enabled',
      disabled_reason: null,
      failing_since: null,
      old_secret_until: null,
      secret_hint: expect.stringMatching(/^.{1,8}$/),
      created_at: expect.any(Number),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60);
    const { secret, ...shown } = made;
    expect((await hooks.read(made.id)).body).toEqual(shown);
    expect((await hooks.list()).body).toEqual({
      object: 'list',
      data: [shown],
      has_more: false,
      first_id: made.id,
      last_id: made.id,
    });
    const rotated = (await hooks.rotate(made.id)).body;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect((await hooks.read(made.id)).text).not.toContain('whsec_');
  });

  it('is changed field by field, and deleted with its log', async () => {
    const { id } = await hooks.endpoint('https://example.com/hook');
    const changed = await hooks.change(id, {
      url: 'https://example.com/other',
      events: ['task.failed'],
      description: 'x',
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { url: 'https://example.com/other', events: ['task.failed'], description: 'x' },
    ]);
    expect((await hooks.change(id, { status: 'disabled' })).body).toMatchObject({
      status: 'disabled',
      disabled_reason: null,
    });
    expect((await hooks.change(id, { status: 'enabled' })).body).toMatchObject({
      status: 'enabled',
      events: ['task.failed'],
    });
    expect((await hooks.remove(id)).status).toBe(204);
    const gone = await hooks.read<ErrorBody>(id);
    expect([gone.status, gone.body.error.code]).toEqual([404, 'webhook_endpoint_not_found']);
  });

  it('gives the same answer for a foreign, an unknown and a malformed id', async () => {
    const { id } = await new WebhookClient(service.api).endpoint('https://example.com/hook');
    for (const unknown of [id, 'we_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense']) {
      for (const answer of [
        await hooks.read<ErrorBody>(unknown),
        await hooks.change<ErrorBody>(unknown, { description: 'x' }),
        await hooks.remove<ErrorBody>(unknown),
        await hooks.rotate<ErrorBody>(unknown),
        await hooks.test<ErrorBody>(unknown),
        await hooks.recover<ErrorBody>(unknown, 0),
        await api.get<ErrorBody>(`/v1/webhook_endpoints/${unknown}/deliveries`),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([404, 'webhook_endpoint_not_found']);
      }
    }
    for (const unknown of ['evt_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense']) {
      const answer = await hooks.redeliver<ErrorBody>(unknown);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'webhook_event_not_found']);
    }
  });

  it('needs the scope webhooks:manage', async () => {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'x',
      scopes: ['tasks:read'],
    });
    const refused = await new WebhookClient(new Api(service.baseUrl, body.key)).register<ErrorBody>({
      url: 'https://example.com',
    });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
  });

  it.each([
    [{}, 'missing_required_parameter', 'url'],
    [{ url: 7 }, 'invalid_type', 'url'],
    [{ url: 'nonsense' }, 'invalid_url', 'url'],
    [{ url: 'ftp://example.com/' }, 'invalid_url', 'url'],
    [{ url: 'https://user@example.com/' }, 'invalid_url', 'url'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, 'invalid_url', 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url_not_allowed', 'url'],
    [{ url: 'https://[::1]/' }, 'url_not_allowed', 'url'],
    [{ url: 'https://169.254.169.254/latest' }, 'url_not_allowed', 'url'],
    [{ url: 'https://8.8.8.8:22/' }, 'url_not_allowed', 'url'],
    [{ url: 'https://example.com/', events: [] }, 'invalid_value', 'events'],
    [{ url: 'https://example.com/', events: ['task.started'] }, 'invalid_value', 'events[0]'],
    [{ url: 'https://example.com/', events: ['task.failed', 'task.failed'] }, 'invalid_value', 'events'],
    [{ url: 'https://example.com/', events: 'task.failed' }, 'invalid_type', 'events'],
    [{ url: 'https://example.com/', events: null }, 'invalid_type', 'events'],
    [{ url: 'https://example.com/', description: 'x'.repeat(501) }, 'string_too_long', 'description'],
    [{ url: 'https://example.com/', secret: 'x' }, 'unknown_parameter', 'secret'],
  ])('is refused with 400: %j', async (input, code, param) => {
    const { status, body } = await hooks.register<ErrorBody>(input);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('is one of at most ten per key, also when many are created at once', async () => {
    // The creations of a key wait for each other. On a slow machine one may wait too long: it is answered 503 then.
    const create = async (url: string): ReturnType<typeof hooks.register> => {
      const answer = await hooks.register({ url });
      return (answer.status as number) === 503 ? create(url) : answer;
    };
    const made = await Promise.all(Array.from({ length: 14 }, (_, at) => create(`https://example.com/${at}`)));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = made.filter(({ status }) => status !== 201) as unknown as { status: number; body: ErrorBody }[];
    for (const { status, body } of refused) expect([status, body.error.code]).toEqual([400, 'too_many_items']);
    const page = (await hooks.list('?limit=4')).body;
    expect([page.data.length, page.has_more]).toEqual([4, true]);
    const rest = (await hooks.list(`?after=${page.last_id}`)).body;
    expect([rest.data.length, rest.has_more]).toEqual([6, false]);
  });

  it('that answers 410 is disabled as gone, until it is enabled again and recovered', async () => {
    let status = 410;
    const there = await receiver((_received, response) => void response.writeHead(status).end());
    const { id } = await hooks.endpoint(there.url);
    const since = Math.floor(Date.now() / 1000);
    await api.create(aFailure);
    const isDisabled = async () => (await hooks.read(id)).body.status === 'disabled';
    await eventually('the endpoint to be disabled', isDisabled);
    expect((await hooks.read(id)).body).toMatchObject({ disabled_reason: 'gone' });
    expect((await hooks.ended(id, 1))[0]).toMatchObject({ status_code: 410, next_attempt_at: null });
    await api.untilFinal((await api.create(aFailure)).body.task_id); // while it is disabled
    const refused = await hooks.recover<ErrorBody>(id, since);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_value']);

    status = 200;
    expect((await hooks.change(id, { status: 'enabled' })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
    });
    expect(there.received).toHaveLength(1);
    expect((await hooks.recover(id, since)).body).toEqual({ events: 2 });
    await there.until(3);
    expect(there.ids.slice(1)).toContain(there.ids[0]); // in either order
    await hooks.ended(id, 3);
    expect((await hooks.recover(id, since)).body).toEqual({ events: 0 }); // delivered events are skipped
  });

  it('signs with both secrets while a rotation overlaps', async () => {
    const there = await receiver();
    const { id, secret } = await hooks.endpoint(there.url);
    const next = (await hooks.rotate(id, { keep_old_secret_for_hours: 0.5 })).body.secret as string;
    await api.create(aFailure);
    const [both] = await there.until(1);
    expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2);
    for (const known of [secret, next]) expect(verified(both, known).id).toBe(both.event.id);

    const endOverlap = `update webhook_endpoints set old_secret_until = now() - interval '1 second' where id = $1`;
    await queryOnce(service.database.url, endOverlap, [id]);
    await api.create(aFailure);
    const [, afterwards] = await there.until(2);
    expect(String(afterwards.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verified(afterwards, next).id).toBe(afterwards.event.id);

    const last = (await hooks.rotate(id, { keep_old_secret_for_hours: 0 })).body.secret as string;
    await api.create(aFailure);
    const [, , alone] = await there.until(3);
    expect(String(alone.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verified(alone, last).id).toBe(alone.event.id);
    expect(() => verified(alone, next)).toThrow();
    for (const hours of [-1, 169, '1', null]) {
      expect((await hooks.rotate(id, { keep_old_secret_for_hours: hours })).status).toBe(400);
    }
  });
});

describe('on demand', () => {
  it('a test event is sent once, is logged as a test, and never disables the endpoint', async () => {
    const there = await receiver((_received, response) => void response.writeHead(410).end());
    const { id, secret } = await hooks.endpoint(there.url);
    const { status, body } = await hooks.test(id);
    expect([status, body]).toEqual([200, { event_id: expect.stringMatching(/^evt_/) }]);
    const [received] = await there.until(1);
    expect(verified(received, secret)).toMatchObject({
      id: body.event_id,
      object: 'event',
      type: 'webhook.test',
      data: { id },
    });
    expect(await hooks.ended(id, 1)).toMatchObject([
      { event_id: body.event_id, trigger: 'test', status_code: 410, next_attempt_at: null },
    ]);
    expect((await hooks.read(id)).body).toMatchObject({ status: 'enabled' } satisfies Partial<EndpointBody>);
    await hooks.change(id, { status: 'disabled' });
    await hooks.test(id);
    await there.until(2); // a disabled endpoint can be tested before it is enabled
  });

  it('an event is redelivered under the same id, signed with the current secret', async () => {
    const there = await receiver();
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    const [first] = await there.until(1);
    await hooks.ended(id, 1);
    const secret = (await hooks.rotate(id)).body.secret as string;
    const again = await hooks.redeliver(first.event.id);
    expect([again.status, again.body]).toMatchObject([200, { id: first.event.id, endpoints: 1 }]);
    const [, second] = await there.until(2);
    expect(second.body).toBe(first.body);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(verified(second, secret)).toEqual(first.event);
    expect(await hooks.ended(id, 2)).toMatchObject([
      { attempt: 1, trigger: 'scheduled' },
      { attempt: 2, trigger: 'manual', event_id: first.event.id },
    ]);
    const page = await hooks.deliveries(id, '?limit=1');
    expect(page).toMatchObject({ object: 'list', has_more: true, data: [{ attempt: 2 }] });
    expect(await hooks.deliveries(id, `?after=${page.last_id}`)).toMatchObject({
      has_more: false,
      data: [{ attempt: 1 }],
    });
  });
});

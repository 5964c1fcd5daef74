import { Client } from 'pg';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { idBoundAt } from '../../src/platform/schema/time.ts';
import { ReplayEvents } from '../../src/webhooks/sql/replay-events.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { type ErrorBody } from '../support/clients/api.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

interface ReplayBody {
  id: string;
  status: string;
  total: number;
  queued: number;
  ended_at: number | null;
}

const REPLAY = '/v1/operations/webhooks/replay';

describe('a replay of webhooks', () => {
  let service: SharedService;
  let receiver: Receiver;
  let database: Client;
  let endpointId: string;

  beforeAll(async () => {
    service = await joinService();
    receiver = await Receiver.start();
    database = new Client({ connectionString: service.database.url });
    await database.connect();
    endpointId = (await new WebhookClient(service.api).endpoint(receiver.url)).id;
  });
  afterAll(async () => {
    await database.end();
    await service.close();
    await receiver.stop();
  });
  afterEach(async () => {
    // The service locks the endpoint before it changes its dispatches. Without this lock, the two could wait for each other.
    await database.query(
      `with endpoint as materialized (select id from webhook_endpoints where id = $1 for update)
       delete from webhook_dispatches d using endpoint e where d.endpoint_id = e.id`,
      [endpointId],
    );
    await database.query('delete from webhook_events where api_key_id = $1', [service.keyId]);
    await database.query('delete from webhook_replays where created_by = $1', [service.keyId]);
    receiver.received.length = 0;
  });

  const replay = async (body: object) => {
    const { status, text, body: made } = await service.api.call<ReplayBody>('POST', REPLAY, body);
    if (status !== 201) throw new Error(text);
    return made;
  };
  const read = async (id: string) => (await service.api.get<ReplayBody>(`/v1/operations/webhooks/replays/${id}`)).body;
  const completed = (id: string) =>
    eventually('the replay to complete', async () => {
      const now = await read(id);
      return now.status === 'completed' && now;
    });

  /** Events of one second of the past, delivered or given up. */
  const past = async (amount: number, { delivered, at }: { delivered: boolean; at: number }) => {
    await database.query(
      `insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
       select $1 || lpad(n::text, 16, '0'), $2, 'task.completed', '{"n":' || n || '}', to_timestamp($3), now() + interval '1 day'
       from generate_series(1, $4::int) n`,
      [idAt(at), service.keyId, at, amount],
    );
    await database.query(
      `insert into webhook_dispatches (event_id, endpoint_id, attempt, failures, delivered_at)
       select id, $1, 1, 0, case when $2 then now() end from webhook_events where created_at = to_timestamp($3)`,
      [endpointId, delivered, at],
    );
  };
  /** Each test has a time of its own, with no event of another file. */
  let used = 0;
  const hourAgo = () => Math.floor(Date.now() / 1000) - 3600 - 200 * used++;

  it('sends what was given up in that time, and nothing else', async () => {
    const at = hourAgo();
    await past(3, { delivered: false, at });
    await past(2, { delivered: true, at: at + 10 });
    await past(2, { delivered: false, at: at - 100 });
    const { id, total, status } = await replay({ since: at - 5, until: at + 60 });
    expect({ total, status }).toEqual({ total: 3, status: 'running' });
    expect(await completed(id)).toMatchObject({ total: 3, queued: 3 });
    await receiver.until(3);
    const { rows } = await database.query(
      'select count(*)::int as n from webhook_dispatches where attempt = 2 and endpoint_id = $1',
      [endpointId],
    );
    expect(rows).toEqual([{ n: 3 }]);
    expect(new Set(receiver.ids).size).toBe(3);
  });

  it('sends all events if asked to, of one key or endpoint', async () => {
    const at = hourAgo();
    const seconds = [at, at + 10, at + 20]; // a replay counts nothing that another one has queued
    for (const second of seconds) await past(2, { delivered: true, at: second });
    const of = async (second: number, which: object) =>
      (await replay({ since: second, until: second + 1, events: 'all', ...which })).total;
    expect(await of(at, { endpoint_id: endpointId })).toBe(2);
    expect(await of(at + 10, { api_key_id: service.keyId })).toBe(2);
    expect(await of(at + 20, { api_key_id: 'key_00000000000000000000000000' })).toBe(0);
    await receiver.until(4);
  });

  it('is paced at 100 deliveries a second, with all others, and stops when it is cancelled', async () => {
    const at = hourAgo();
    await past(3_000, { delivered: false, at });
    await past(150, { delivered: false, at: at + 10 });
    const { id } = await replay({ since: at, until: at + 1 });
    /** Moves the date of its next step. @returns how much it had queued, and how far ahead the date was */
    const wait = async (interval: string) => {
      const { rows } = await database.query<{ queued: number; ahead_s: number }>(
        `update webhook_replays r set lease_until = now() + $2::interval
         from (select id, extract(epoch from lease_until - created_at)::float as ahead_s from webhook_replays where id = $1 for update) old
         where r.id = old.id and r.queued > 0 returning r.queued, old.ahead_s`,
        [id, interval],
      );
      return rows[0];
    };
    const { queued, ahead_s } = await eventually('the first to be queued', () => wait('1 hour'));
    expect(ahead_s).toBeGreaterThanOrEqual(queued / 100);

    /** As the workers do. */
    const step = () =>
      new ReplayEvents({
        run: async ({ text }: Statement) => (await database.query(text)).rows as unknown,
      } as unknown as Sql).step();
    const another = await replay({ since: at + 10, until: at + 11, events: 'all' });
    expect(await step()).toBeNull();
    expect([await read(id), await read(another.id)]).toMatchObject([{ status: 'running', queued }, { queued: 0 }]);

    const cancelled = await service.api.call<ReplayBody>('POST', `/v1/operations/webhooks/replays/${id}/cancel`);
    expect([cancelled.status, cancelled.body.status, cancelled.body.queued]).toEqual([200, 'cancelled', queued]);
    await wait('0 s');
    await completed(another.id);
    expect(await read(id)).toMatchObject({ status: 'cancelled', queued });
    await eventually('the deliveries to be recorded', async () => {
      const { rows } = await database.query(
        `select count(*)::int as n from webhook_dispatches d join webhook_events e on e.id = d.event_id
         where e.created_at = to_timestamp($1) and d.endpoint_id = $2 and d.delivered_at is not null`,
        [at, endpointId],
      );
      return rows[0].n === queued;
    });
    const again = await service.api.call<ReplayBody>('POST', `/v1/operations/webhooks/replays/${id}/cancel`);
    expect([again.status, again.body.status]).toEqual([200, 'cancelled']);
    const audit = await service.api.get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${id}`);
    expect(audit.body.data).toMatchObject([
      { action: 'webhook_replay.cancelled', before: { queued } },
      { action: 'webhook_replay.created', after: { total: 3_000, events: 'failed' } },
    ]);
  });

  it.each([
    ['an attempt in flight', 'lease_until'],
    ['a first attempt', 'due_at'],
  ])('leaves %s alone', async (_, column) => {
    const at = hourAgo();
    await past(2, { delivered: false, at });
    const { rowCount } = await database.query(
      `update webhook_dispatches set ${column} = now() + interval '1 hour'
       where endpoint_id = $1 and event_id = (select min(id) from webhook_events where created_at = to_timestamp($2))`,
      [endpointId, at],
    );
    expect(rowCount).toBe(1);
    const { id, total } = await replay({ since: at, until: at + 1, events: 'all' });
    expect(total).toBe(1);
    expect(await completed(id)).toMatchObject({ queued: 1 });
    await receiver.until(1);
  });

  it.each([
    [{}, 'missing_required_parameter'],
    [{ since: 10, until: 10 }, 'invalid_value'],
    [{ since: -1 }, 'value_out_of_range'],
    [{ since: 1, endpoint_id: 'unknown' }, 'invalid_value'],
    [{ since: 1, api_key_id: 'unknown' }, 'invalid_value'],
    [{ since: 1, events: 'some' }, 'invalid_value'],
  ])('refuses %j', async (body, code) => {
    const refused = await service.api.call<ErrorBody>('POST', REPLAY, body);
    expect([refused.status, refused.body.error.code]).toEqual([400, code]);
    const { rows } = await database.query('select 1 from webhook_replays where created_by = $1', [service.keyId]);
    expect(rows).toEqual([]);
  });

  it.each(['unknown', 'replay_00000000000000000000000000', 'replay_%00'])(
    'that is unknown (%s) is not found',
    async (id) => {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/cancel'],
      ]) {
        const { status, body } = await service.api.call<ErrorBody>(
          method!,
          `/v1/operations/webhooks/replays/${id}${path}`,
        );
        expect([status, body.error.code]).toEqual([404, 'webhook_replay_not_found']);
      }
    },
  );
});

/** The first characters of the id of an event of this time. */
const idAt = (seconds: number): string => idBoundAt(seconds * 1000, 'evt');

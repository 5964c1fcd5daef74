import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-budget-faults-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(PROVIDERS, `prices: [{ provider: sandbox, per_image: "0.1", on_failure: full }]`);

interface Status {
  spent_micros: number;
  reserved_micros: number;
}

const PICTURE = 100_000;

describe('a budget over several processes', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  let admin: Api;
  beforeAll(async () => {
    database = await cloneDatabase();
    fleet = await FaultFleet.on(database.url, {
      PROVIDERS,
      TASK_LEASE_S: '2',
      TASK_HEARTBEAT_S: '0.3',
      TASK_SWEEP_S: '0.2',
      TASK_RETENTION_DAYS: '0.0005', // 43 s: cancels find no record that has expired
      FILE_RETENTION_DAYS: '0.0002',
    });
    for (const role of ['api', 'api', 'worker'] as const) await fleet.add(role);
    admin = fleet.clientOf(fleet.apis[0]!);
  }, 240_000);
  afterAll(async () => {
    await fleet?.end();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const keyWith = async (amount_micros: number): Promise<{ id: string; apis: Api[] }> => {
    const scopes = ['generations:write', 'tasks:read', 'tasks:cancel'];
    const limits = { budget: { amount_micros, period: 'total' } };
    const { body } = await admin.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
      name: 'x',
      scopes,
      limits,
    });
    return { id: body.id, apis: fleet.apis.map((member) => fleet.clientOf(member, body.key)) };
  };
  const statusOf = async (id: string): Promise<Status> =>
    (await admin.get<{ budget_status: Status }>(`/v1/api_keys/${id}`)).body.budget_status;

  it('is not passed by one micro-unit under 200 concurrent creations', async () => {
    const amount = 60 * PICTURE + 50_000;
    const { id, apis } = await keyWith(amount);
    const delays = '#delay:30 A cat'; // none ends before all are created
    const sent = await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        const n = 1 + (nth % 4);
        const headers = nth % 3 === 0 ? { 'idempotency-key': `key ${nth}` } : {};
        const { status } = await apis[nth % 2]!.create({ model: 'gpt-image-2', prompt: delays, n }, headers);
        return { n, status };
      }),
    );
    const made = sent.filter(({ status }) => status === 201).reduce((sum, { n }) => sum + n * PICTURE, 0);
    expect(sent.filter(({ status }) => status !== 201 && status !== 402)).toEqual([]);
    expect(made).toBeLessThanOrEqual(amount);
    // Whatever still fits is refused to nobody: the rest is less than one picture.
    expect(amount - made).toBeLessThan(PICTURE);
    expect(await statusOf(id)).toMatchObject({ spent_micros: 0, reserved_micros: made });
    const [rows] = await queryOnce<{ sum: string }>(database.url, 'select sum(reserved_micros) from tasks where api_key_id = $1', [id]); // prettier-ignore
    expect(Number(rows!.sum)).toBe(made);
    await admin.call('DELETE', `/v1/api_keys/${id}`);
  }, 180_000);

  it('gets back what was reserved, whatever ends the tasks: workers that are killed, cancels, the purge', async () => {
    const { id, apis } = await keyWith(1_000 * PICTURE);
    const prompts = ['#fail:content_policy_violation', '#delay:3 #fail:provider_rejected', '#hang'];
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, nth) =>
        apis[nth % 2]!.create({ model: 'gpt-image-2', prompt: prompts[nth % 3], n: 1 + (nth % 2) }),
      ),
    );
    expect(created.every(({ status }) => status === 201)).toBe(true);
    const running = `select 1 from tasks where api_key_id = $1 and status = 'running'`;
    await eventually('the runs', async () => (await queryOnce(database.url, running, [id])).length > 10);
    const restarted = fleet.restart(fleet.workers[0]!, 'SIGKILL');
    const hanging = created.filter((_, nth) => nth % 3 === 2);
    const cancels = await Promise.all(hanging.map(({ body }, nth) => apis[nth % 2]!.cancel(body.task_id)));
    expect(cancels.every(({ status }) => status === 200)).toBe(true);
    await restarted;
    const unfinished = `select 1 from tasks where api_key_id = $1 and status in ('queued', 'running')`;
    await eventually('all ends', async () => (await queryOnce(database.url, unfinished, [id])).length === 0);
    const ledger = async () => {
      const rows = await queryOnce<{ spent: number; tasks: number }>(database.url, 'select sum(cost_micros)::int as spent, count(*)::int as tasks from usage_ledger where api_key_id = $1', [id]); // prettier-ignore
      return rows[0]!;
    };
    const { spent, tasks } = await ledger();
    expect(tasks).toBe(60);
    expect(await statusOf(id)).toMatchObject({ spent_micros: spent, reserved_micros: 0 });
    expect(spent).toBeGreaterThan(0);
    await eventually('the purge', async () => (await queryOnce(database.url, 'select 1 from tasks where api_key_id = $1', [id])).length === 0); // prettier-ignore
    expect(await statusOf(id)).toMatchObject({ spent_micros: spent, reserved_micros: 0 });
  }, 240_000);
});

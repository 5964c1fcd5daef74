// Own settings: one running task of a key, and a hook that lists the metrics. They are of the whole process.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { freePort } from '../support/free-port.ts';
import { Scrape } from '../support/metrics.ts';
import type { TaskBody } from '../support/clients/api.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-metrics-'));
const METRICS_FILE = join(folder, 'metrics.ndjson');
const CAT = { model: 'gpt-image-2', prompt: 'a cat' };

/** Name, type, labels, unit, meaning. */
const ROW = /^\| `(\w+)` +\| (\w+) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm;

const page = readFileSync(new URL('../../docs/api/metrics.md', import.meta.url), 'utf8');
const documented = [...page.matchAll(ROW)].map(([, name, type, labels, unit, meaning]) => ({
  name: name as string,
  type: type as string,
  labels: [...(labels as string).matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
  unit: unit as string,
  meaning: meaning as string,
}));

describe('the metrics of a process', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService({
      MAX_RUNNING_PER_KEY: '1',
      WORKER_CONCURRENCY: '2',
      NODE_OPTIONS: `--import=${new URL('../support/list-metrics.mjs', import.meta.url).href}`,
      METRICS_FILE,
    });
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  const scrape = () => Scrape.of(service.baseUrl);
  const authorization = () => ({ authorization: `Bearer ${service.env.BOOTSTRAP_API_KEY}` });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { ...authorization(), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const graphql = (query: string) => post('/graphql', { query });

  it('separate the time that a request took from the time for which it waited on purpose', async () => {
    // The first creation of a process is slow: it opens connections, and its code is not compiled yet.
    await post('/v1/generations', CAT, { prefer: 'wait=60' });
    const first = await eventually('the first request', async () => {
      const now = await scrape();
      return now.value('darkroom_http_wait_seconds_count', { kind: 'prefer' }) === 1 && now;
    });
    const open = post('/v1/generations', { ...CAT, prompt: '#hang a cat' }, { prefer: 'wait=60' });
    const { task_id } = await eventually('the task', async () => {
      const { body } = await service.api.get<{ data: TaskBody[] }>('/v1/tasks?status=running');
      return body.data[0];
    });
    // The wait lasts as long as fifty requests, and so longer than the work of one.
    for (let nth = 0; nth < 50; nth += 1) await service.api.get('/v1/models');
    await service.api.cancel(task_id);
    expect(await (await open).json()).toMatchObject({ status: 'failed' });
    const after = await eventually('the request', async () => {
      const now = await scrape();
      return now.value('darkroom_http_wait_seconds_count', { kind: 'prefer' }) === 2 && now;
    });
    const gained = (name: string, labels: Record<string, string>) =>
      after.value(name, labels)! - first.value(name, labels)!;
    const waited = gained('darkroom_http_wait_seconds_sum', { kind: 'prefer' });
    const request = { http_route: '/v1/generations', http_response_status_code: '201' };
    const took = gained('http_server_request_duration_seconds_sum', request);
    const lasted = after.value('darkroom_task_duration_seconds_sum', { status: 'failed' })!;
    expect(waited).toBeGreaterThan(lasted / 2);
    expect(took).toBeLessThan(waited);
  });

  it('count a task once on its way, by its model and what became of it', async () => {
    const before = await scrape();
    const { task_id } = (await (await post('/v1/generations', CAT)).json()) as { task_id: string };
    let polls = 0;
    await eventually('the end', async () => {
      polls += 1;
      const { status } = (await (
        await fetch(`${service.baseUrl}/v1/tasks/${task_id}?wait=30`, { headers: authorization() })
      ).json()) as { status: string };
      return status === 'succeeded';
    });
    const after = await scrape();
    const gained = (name: string, labels: Record<string, string> = {}) =>
      (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    expect(gained('darkroom_tasks_created_total', { model: 'gpt-image-2' })).toBe(1);
    expect(gained('darkroom_task_claims_total', { reason: 'first' })).toBe(1);
    expect(gained('darkroom_task_queue_wait_seconds_count', { kind: 'image' })).toBe(1);
    const ended = { model: 'gpt-image-2', provider: 'sandbox', status: 'succeeded' };
    expect(gained('darkroom_tasks_ended_total', ended)).toBe(1);
    for (const stage of ['images', 'upstream', 'store']) {
      expect([stage, gained('darkroom_task_stage_seconds_count', { stage, kind: 'image' })]).toEqual([stage, 1]);
    }
    expect(gained('darkroom_http_wait_seconds_count', { kind: 'long_poll' })).toBe(polls);
  });

  it('tell tasks that wait for a worker from those that wait for a place of their key', async () => {
    const cancelled = { status: 'failed', error_code: 'task_cancelled' };
    const before = (await scrape()).value('darkroom_tasks_ended_total', cancelled)!;
    const held = await Promise.all(
      [1, 2, 3].map(async () => (await post('/v1/generations', { ...CAT, prompt: '#hang a cat' })).json()),
    );
    const facts = await eventually('the facts', async () => {
      const now = await scrape();
      const inState = (state: string) => now.value('darkroom_queue_tasks', { state });
      return inState('running') === 1 && inState('parked') === 2 && now;
    });
    expect(facts.value('darkroom_queue_tasks', { state: 'waiting' })).toBe(0);
    expect(facts.value('darkroom_queue_keys')).toBe(1);
    expect(facts.value('darkroom_queue_oldest_seconds', { state: 'parked' })).toBeGreaterThan(0);
    expect(facts.value('darkroom_worker_slots', { state: 'busy' })).toBe(1);
    for (const { task_id } of held as { task_id: string }[]) await post(`/v1/tasks/${task_id}/cancel`, {});
    expect((await scrape()).value('darkroom_tasks_ended_total', cancelled)! - before).toBe(3);
  });

  it('count errors by their code, also those of GraphQL', async () => {
    const before = (await scrape()).value('darkroom_http_errors_total') ?? 0;
    await fetch(`${service.baseUrl}/v1/tasks/task_unknown`, { headers: authorization() });
    await graphql('{ nothing }');
    const after = await scrape();
    expect(after.value('darkroom_http_errors_total')! - before).toBe(2);
    expect(after.value('darkroom_http_errors_total', { code: 'task_not_found' })).toBe(1);
    const failed = { graphql_operation_type: 'other', outcome: 'client_error' };
    expect(after.value('darkroom_graphql_operation_duration_seconds_count', failed)).toBe(1);
  });

  it('measure webhooks from the event to the answer', async () => {
    const receiver = await Receiver.start();
    try {
      await post('/v1/webhook_endpoints', { url: receiver.url });
      await post('/v1/generations', CAT);
      const after = await eventually('the attempt', async () => {
        const now = await scrape();
        return (
          now.value('darkroom_webhook_attempts_total', { outcome: 'delivered', trigger: 'scheduled' }) === 1 && now
        );
      });
      expect(after.value('darkroom_webhook_lag_seconds_count')).toBe(1);
      expect(after.value('darkroom_webhook_attempt_seconds_count', { outcome: 'delivered' })).toBe(1);
    } finally {
      await receiver.stop();
    }
  });

  it('hear the echo of their own messages on the bus', async () => {
    const now = await eventually('the echo', async () => {
      const after = await scrape();
      return after.value('darkroom_bus_echo_seconds_count')! > 0 && after;
    });
    expect(now.value('darkroom_bus_connected')).toBe(1);
  });

  it('carry nothing that a client wrote', async () => {
    await fetch(`${service.baseUrl}/v1/canary-path?canary=1`, { method: 'PROPFIND' }).catch(() => undefined);
    await fetch(`${service.baseUrl}/v1/models/canary-model`, { headers: authorization() });
    await graphql('query canaryOperation { canaryField }');
    const { text } = await scrape();
    expect(text).not.toMatch(/canary/i);
    expect(text).not.toMatch(/task_0|dr_[0-9A-Za-z]{10}/);
  });

  it('stay few, whatever is asked', async () => {
    const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path: path.replace(/\{\w+\}/g, 'none'), method: method.toUpperCase() })),
    );
    for (const { path, method } of routes.filter(({ path }) => !path.endsWith('/events'))) {
      for (const headers of [{}, authorization(), { ...authorization(), 'content-type': 'application/json' }]) {
        const body = 'content-type' in headers && ['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : undefined;
        const answer = await fetch(`${service.baseUrl}${path}`, { method, headers, ...(body && { body }) });
        await answer.body?.cancel();
      }
    }
    const { lines } = await scrape();
    // The passes in the background add the statements that they have sent by now, each by its name in the code.
    const ofStatements = lines.filter((line) => line.startsWith('db_client_operation_'));
    const named = /^\w+\{(?:le="[^"]+",)?db_operation_name="[a-z]+\.[a-z_]+"\} /;
    expect(ofStatements.filter((line) => !named.test(line))).toEqual([]);
    expect(ofStatements.length).toBeLessThanOrEqual(3_000);
    const others = lines.length - ofStatements.length;
    expect(others).toBeGreaterThan(1_500);
    expect(others).toBeLessThanOrEqual(3_000);
  });

  it('are in the format of Prometheus: each is described before its values, and no series is there twice', async () => {
    const { text, lines } = await scrape();
    const described = new Set<string>();
    const help = /^# HELP ([a-z]\w*) \S.*\n# TYPE \1 (?:counter|gauge|histogram|summary)$/;
    for (const block of text.trim().split(/\n+(?=# HELP)/)) {
      const [first, second, ...values] = block.split('\n').filter((line) => line !== '');
      const name = help.exec(`${first}\n${second}`)?.[1];
      expect([first, described.has(name!)]).toEqual([`# HELP ${name} ${first!.split(' ').slice(3).join(' ')}`, false]);
      described.add(name!);
      const series = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(?:\\w+="(?:[^"\\\\]|\\\\.)*",?)+\\})? (?:[-+.\\de]+|[+-]Inf|Na[Nn])$`); // prettier-ignore
      expect(values.filter((line) => !series.test(line))).toEqual([]);
    }
    const names = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(names).size).toBe(names.length);
  });

  it('are those of docs/api/metrics.md, each once, with its type and labels', async () => {
    const listed = readFileSync(METRICS_FILE, 'utf8').trim().split('\n');
    const labels = new Map(listed.map((line) => JSON.parse(line) as [name: string, labels: string[]]));
    const defaults = new Registry();
    collectDefaultMetrics({ register: defaults });
    const served = [...(await scrape()).text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
      .map(([, name, type]) => ({ name: name!, type: type!, labels: labels.get(name!) }))
      .filter(({ name }) => !defaults.getSingleMetric(name));
    expect(served.map(({ name }) => name)).toContain('http_server_request_duration_seconds');
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    expect(documented.map(({ name, type, labels }) => ({ name, type, labels })).toSorted(byName)).toEqual(
      served.toSorted(byName),
    );
  });

  it('say nothing of the queue while the database is too slow', async () => {
    const locked = await LockedRows.by(service.database.url, 'lock table key_load');
    try {
      // It is read every ten seconds at most.
      const slow = await eventually('the facts to be missing', async () => {
        const now = await scrape();
        return now.value('darkroom_queue_tasks') === null && now;
      });
      expect(slow.value('darkroom_build_info')).toBe(1);
      expect((await scrape()).value('darkroom_collect_errors_total', { what: 'database' })).toBeGreaterThan(0);
    } finally {
      await locked.release();
    }
    await eventually('the facts', async () => (await scrape()).value('darkroom_queue_tasks') !== null);
  });
});

describe('OPS_PORT', () => {
  it('has metrics and health, and the port of clients has not; where no tasks run, nothing is said of the queue', async () => {
    const ops = await freePort();
    const service = await startOwnService({ ROLE: 'api', OPS_PORT: String(ops) });
    const status = async (port: string | number, path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    try {
      expect((await Scrape.of(`http://127.0.0.1:${ops}`)).text).not.toContain('darkroom_queue_tasks');
      for (const path of ['/metrics', '/healthz', '/readyz']) {
        expect([path, await status(ops, path), await status(service.env.PORT!, path)]).toEqual([path, 200, 404]);
      }
      expect(await status(ops, '/v1/models')).toBe(404);
      // The router decodes paths.
      for (const path of ['/%6detrics', '/%68ealthz', '/metric%73']) {
        expect([path, await status(ops, path), await status(service.env.PORT!, path)]).toEqual([path, 200, 404]);
      }
      expect(await status(ops, '/v1/%6dodels')).toBe(404);
      expect(await status(service.env.PORT!, '/v1/models')).toBe(401);
    } finally {
      await service.close();
    }
    await expect(fetch(`http://127.0.0.1:${ops}/healthz`)).rejects.toThrow();
  });
});

it('docs/api/metrics.md names the unit and the meaning of each metric', () => {
  expect(documented.filter(({ unit }) => !/^[a-z]+$/.test(unit))).toEqual([]);
  expect(documented.filter(({ meaning }) => !/^[A-Z].{20,}\.$/.test(meaning))).toEqual([]);
});

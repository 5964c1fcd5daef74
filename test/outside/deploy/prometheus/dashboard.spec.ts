import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { type OwnService, startOwnService } from '../../../support/service.ts';
import { FalStub } from '../../../support/stubs/fal.stub.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, findTool } from '../tools.ts';
import { Prometheus, PROMETHEUS } from './prometheus.ts';

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}

const json = readFileSync('deploy/grafana/dashboards/darkroom.json', 'utf8');
const dashboard = JSON.parse(json) as { panels: Panel[]; templating: { list: { name: string }[] } };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);

/** As Grafana fills it in. */
const filled = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '20s').replaceAll('"$job"', '".*"').replaceAll('"$instance"', '".*"');

describe('the dashboard', () => {
  it('has six rows, and the variables job and instance only', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Promises',
      'Requests',
      'Tasks',
      'Providers',
      'Webhooks',
      'Machine',
    ]);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['job', 'instance']);
    for (const [, expr] of queries) expect(filled(expr)).not.toContain('$');
  });

  it('has the type of a dashboard of Grafana', () => {
    const file = join(process.cwd(), 'test/outside/deploy/dashboard.check.ts'); // never written: the compiler reads it from here
    const source = `import type { Dashboard } from '@grafana/schema';\nexport const dashboard: Dashboard = ${json};\n`;
    const options: ts.CompilerOptions = {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    };
    const host = ts.createCompilerHost(options);
    const { fileExists, getSourceFile } = host;
    host.fileExists = (path) => path === file || fileExists(path);
    host.getSourceFile = (path, ...rest) =>
      path === file ? ts.createSourceFile(path, source, ts.ScriptTarget.ES2022) : getSourceFile(path, ...rest);
    const found = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});

describeWith(PROMETHEUS, 'the queries of the dashboard', () => {
  const fal = new FalStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-dashboard-'));
  let service: OwnService;
  let receiver: Receiver;
  let prometheus: Prometheus;
  let load: NodeJS.Timeout;

  beforeAll(async () => {
    await fal.start();
    fal.real = true;
    receiver = await Receiver.start();
    const file = join(folder, 'providers.yaml');
    writeFileSync(
      file,
      `models:
  gpt-image-2: [{ provider: sandbox, model: sandbox }]
  nano-banana-2: [{ provider: fal, model: fal-ai/nano-banana-2, concurrency: 5 }]`,
    );
    service = await startOwnService({
      PROVIDERS: file,
      PROVIDER_POLL_INTERVAL_MS: '20',
      FAL_KEY: fal.key,
      FAL_BASE_URL: fal.origin,
      RATE_READ_PER_MIN: '1000',
      TASK_HEARTBEAT_S: '1',
    });
    await service.api.call('POST', '/v1/webhook_endpoints', { url: receiver.url });
    prometheus = await Prometheus.start([service.baseUrl]);
    load = setInterval(() => void oneOfEach().catch(() => undefined), 500);
  });
  afterAll(async () => {
    clearInterval(load);
    await prometheus.stop();
    await service.close();
    await receiver.stop();
    await fal.stop();
    rmSync(folder, { recursive: true });
  });

  async function oneOfEach(): Promise<void> {
    const { api } = service;
    await Promise.all([
      api.create({ model: 'gpt-image-2', prompt: 'a cat' }),
      api.create({ model: 'gpt-image-2', prompt: '#fail:provider_rejected' }),
      api.create({ model: 'nano-banana-2', prompt: 'a cat' }),
      api.get('/v1/tasks'),
      api.get('/v1/tasks/task_unknown'),
    ]);
  }

  it('are expressions of Prometheus', () => {
    const rules = queries.map(([, expr]) => `{ record: a, expr: ${JSON.stringify(filled(expr))} }`);
    const file = join(folder, 'queries.yml');
    writeFileSync(file, `groups: [{ name: dashboard, rules: [${rules.join(', ')}] }]`);
    const { stdout, stderr } = spawnSync(findTool('promtool')!, ['check', 'rules', '--lint=none', file], {
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toContain(`SUCCESS: ${queries.length} rules found`);
  });

  it('all have an answer of a loaded service', async () => {
    const empty = new Set(queries.map(([title, expr]) => `${title}: ${filled(expr)}`));
    await eventually(`the answers`, async () => {
      for (const query of empty) {
        const answer = await prometheus.query(query.slice(query.indexOf(': ') + 2));
        if (answer.some(({ value }) => Number.isFinite(Number(value[1])))) empty.delete(query);
      }
      return empty.size === 0;
    }).catch(() => undefined);
    expect([...empty]).toEqual([]);
  });
});

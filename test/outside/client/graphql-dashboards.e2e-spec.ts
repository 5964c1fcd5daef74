import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { CutLine } from '../../support/faults/cut-line.ts';
import { eventually } from '../../support/wait.ts';

const root = new URL('../../../', import.meta.url).pathname;

describe('the programs of docs/guides/graphql-dashboards.md', () => {
  let service: OwnService;
  let line: CutLine;
  let folder: string;
  let dashboard: ChildProcess;
  let printed: string;
  beforeAll(async () => {
    service = await startOwnService();
    line = await CutLine.to('127.0.0.1', Number(new URL(service.baseUrl).port));
    folder = mkdtempSync(join(tmpdir(), 'dashboards-'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { marks, text } of blocksOf(root, 'docs/guides/graphql-dashboards.md')) {
      if (marks.file) writeFileSync(join(folder, marks.file), text);
    }
  });
  afterEach(async () => {
    dashboard.kill();
    if (dashboard.exitCode === null && dashboard.signalCode === null) await once(dashboard, 'exit');
  });
  afterAll(async () => {
    await line.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  const start = (program: string) => {
    printed = '';
    const env = {
      PATH: process.env.PATH,
      DARKROOM_URL: `http://127.0.0.1:${line.port}`,
      DARKROOM_API_KEY: service.api.key!,
    };
    dashboard = spawn(process.execPath, ['--no-warnings', program], { cwd: folder, env });
    for (const stream of [dashboard.stdout, dashboard.stderr]) stream!.on('data', (chunk) => (printed += chunk));
  };
  const untilPrinted = async (text: string) => {
    const isPrinted = async () => dashboard.exitCode !== null || printed.includes(text);
    await eventually(`"${text}"`, isPrinted, 30_000).catch(() => undefined);
    expect(printed).toContain(text);
  };

  it.each(['urql-dashboard.ts', 'apollo-dashboard.ts'])(
    '%s shows an end that came while it was cut off',
    async (name) => {
      start(name);
      const { body } = await service.api.create({ model: 'gpt-image-2', prompt: 'A lighthouse #delay:2' });
      await untilPrinted(`${body.task_id} RUNNING`);
      line.cut();
      await service.api.untilFinal(body.task_id);
      expect(printed).not.toContain(`${body.task_id} SUCCEEDED`);
      line.mend();
      await untilPrinted(`${body.task_id} SUCCEEDED 100`);
    },
  );
});

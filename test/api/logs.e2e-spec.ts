// Own settings and processes: what they log.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

interface Line {
  level: string;
  event?: string;
  context?: string;
  [field: string]: unknown;
}

/** The lines after the welcome, each of which must be JSON. What follows the last line break may be a part of a line. */
function linesOf(service: ServiceProcess): Line[] {
  const [, ...rest] = service.output().split(/Darkroom is ready at .*\n(?: .*\n)*\n/);
  return rest
    .join('')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{') || line.trim() !== '')
    .map((line) => JSON.parse(line) as Line);
}

const eventsOf = (service: ServiceProcess, event: string): Line[] =>
  linesOf(service).filter((line) => line.event === event);

describe('the log of a process', () => {
  const database = { current: null as TestDatabase | null };
  let service: ServiceProcess;

  beforeAll(async () => (database.current = await cloneDatabase()));
  afterEach(() => service?.kill('SIGKILL'));
  afterAll(() => database.current?.drop());

  async function start(settings: Record<string, string>) {
    const { env, dataDir } = await testEnv(database.current!.url, settings);
    delete env.LOG_LEVEL; // unless the test sets it, the file does
    service = await spawnService(settings.LOG_LEVEL ? { ...env, LOG_LEVEL: settings.LOG_LEVEL } : env);
    return { env, dataDir };
  }

  it('says on every line which process wrote it, and has none of requests that succeed with LOG_REQUESTS=errors', async () => {
    await start({ LOG_LEVEL: 'debug', LOG_REQUESTS: 'errors', ROLE: 'all', OTEL_SERVICE_NAME: 'studio' });
    await service.api.get('/v1/models');
    await service.api.get('/v1/tasks/none');
    await eventually('the line of the error', async () => eventsOf(service, 'request.finished').length > 0);
    expect(eventsOf(service, 'request.finished').map(({ status }) => status)).toEqual([404]);
    const lines = linesOf(service);
    const { process, version } = lines[0]!;
    expect(process).toMatch(new RegExp(`-${service.child.pid}-`));
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(lines.filter((line) => line.service !== 'studio' || line.role !== 'all')).toEqual([]);
    expect(lines.filter((line) => line.process !== process || line.version !== version)).toEqual([]);
  });

  it('changes its levels at a SIGHUP, without a restart', async () => {
    const { dataDir } = await start({});
    const reload = async (file: string, event: string) => {
      await writeFile(join(dataDir, '.env'), file);
      const before = eventsOf(service, event).length;
      service.child.kill('SIGHUP');
      await eventually(event, async () => eventsOf(service, event).length > before);
      return eventsOf(service, event).at(-1);
    };
    expect(await reload('LOG_LEVEL=info\nLOG_LEVELS=requests=error\n', 'log_levels.changed')).toMatchObject({
      level: 'info',
      log_level: 'info',
      log_levels: { requests: 'error' },
    });
    await service.api.get('/v1/models');
    const refused = await reload('LOG_LEVELS=requests=loud\n', 'log_levels.refused');
    expect(refused).toMatchObject({ level: 'warn', faults: [expect.stringContaining('LOG_LEVELS must be pairs')] });
    await service.api.get('/v1/models?x=1');
    expect(eventsOf(service, 'request.finished')).toEqual([]);
    await reload('', 'log_levels.changed');
    await service.api.get('/v1/models');
    await eventually('the line of a request', async () => eventsOf(service, 'request.finished').length === 1);
  });
});

it('logs the warnings of Node, and the error that ends the process, as lines', async () => {
  const program = `
    const { logProcess } = await import('${new URL('../../dist/platform/observe/logging/log-process.js', import.meta.url)}');
    const { createLogger, NestLogger } = await import('${new URL('../../dist/platform/observe/logging/logging.js', import.meta.url)}');
    const { LogLevels } = await import('${new URL('../../dist/platform/observe/logging/logging.js', import.meta.url)}');
    const { Logger } = await import('@nestjs/common');
    Logger.overrideLogger(new NestLogger(createLogger({ role: 'all' }), new LogLevels()));
    logProcess();
    process.emitWarning('Bearer abcdefghijkl is old', { code: 'OLD' });
    setImmediate(() => Promise.reject(new Error('lost https://a.example/x?signature=1')));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  expect(code).toBe(1);
  // The last line is written at once, perhaps before an earlier one that is still on its way.
  expect(lines).toHaveLength(2);
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ level: 'warn', event: 'process.warned', context: 'process' }),
      expect.objectContaining({ level: 'fatal', event: 'process.crashed', origin: 'unhandledRejection' }),
    ]),
  );
  expect(output).not.toMatch(/abcdefghijkl|signature/);
});

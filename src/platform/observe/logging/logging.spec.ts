import type { LevelSettings, OperatorLevels } from '../../config/log-levels.ts';
import { createLogger, LogLevels, NestLogger } from './logging.ts';
import { currentRequest } from './request-context.ts';
import { scrub } from './scrub.ts';

const IDENTITY = { service: 'darkroom', version: '1.2.3', role: 'worker', process: 'host-1-ab' };

function logger(settings: Partial<LevelSettings> = {}) {
  const lines: string[] = [];
  const pino = createLogger(IDENTITY, { write: (line: string) => void lines.push(line) });
  const levels = new LogLevels({ logLevel: 'info', logLevels: {}, ...settings });
  return { nest: new NestLogger(pino, levels), levels, lines, last: () => JSON.parse(lines.at(-1)!) };
}

describe('the log', () => {
  it('is one JSON object per line, named by its event', () => {
    const { nest, lines, last } = logger();
    nest.log({ event: 'task.moved', task_id: 'task_1', ms: 3 }, 'tasks');
    nest.warn('slow', 'jobs');
    nest.debug('not at this level');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0])).toMatchObject({ level: 'info', context: 'tasks', event: 'task.moved', ms: 3 });
    expect(last()).toMatchObject({ level: 'warn', context: 'jobs', msg: 'slow' });
  });

  it('says on every line which service, version, role and process wrote it', () => {
    const { nest, last } = logger();
    nest.log({ event: 'task.moved' }, 'tasks');
    expect(last()).toMatchObject(IDENTITY);
    nest.one('info', 'requests', () => ({ event: 'request.finished' }));
    expect(last()).toMatchObject({ ...IDENTITY, context: 'requests', event: 'request.finished' });
  });

  it('has a level for each part, which can change', () => {
    const { nest, levels, lines } = logger({ logLevels: { webhooks: 'warn', bus: 'debug', purge: 'silent' } });
    let nth = 0;
    const logAll = (): string => {
      lines.length = 0;
      for (const context of ['webhooks', 'bus', 'purge', 'tasks']) {
        nest.debug({ event: `d${(nth += 1)}` }, context);
        nest.log({ event: `i${nth}` }, context);
        nest.fatal({ event: `f${nth}` }, context);
      }
      const shown = lines.map((line) => JSON.parse(line) as { context: string; level: string });
      return shown.map(({ context, level }) => `${context}:${level}`).join(' ');
    };
    expect(logAll()).toBe('webhooks:fatal bus:debug bus:info bus:fatal tasks:info tasks:fatal');
    levels.change({ logLevel: 'error', logLevels: { tasks: 'debug' } });
    expect(logAll()).toBe('webhooks:fatal bus:fatal purge:fatal tasks:debug tasks:info tasks:fatal');
  });

  it.each<OperatorLevels>([
    { logLevel: 'silent', logLevels: {} },
    { logLevel: 'warn', logLevels: { audit: 'fatal' } },
    { logLevel: null, logLevels: { audit: 'silent' } },
  ])('keeps the acts of operators, whatever they set: %j', (asked) => {
    const levels = new LogLevels({ logLevel: 'info', logLevels: {} }, asked);
    expect(levels.allow('info', 'audit')).toBe(true);
    expect(levels.current.logLevels.audit).toBe('info');
    levels.change({ logLevel: 'info', logLevels: { audit: 'silent' } }); // by who runs the process
    expect(levels.allow('info', 'audit')).toBe(false);
    levels.override({ logLevel: null, logLevels: { audit: 'debug' } });
    expect(levels.allow('debug', 'audit')).toBe(true);
  });

  it('names the request that a line belongs to', () => {
    const { nest, last } = logger();
    currentRequest.run({ id: 'req_7' }, () => nest.log('within'));
    expect(last().request_id).toBe('req_7');
    nest.log('outside');
    expect(last()).not.toHaveProperty('request_id');
  });

  it('has an error with its causes, without the fields that drivers add', () => {
    const { nest, lines, last } = logger();
    const cause = Object.assign(new Error('duplicate key'), { code: '23505', parameters: ['a cat'], query: 'insert' });
    nest.error({ event: 'request.failed', err: new Error('could not store', { cause }) });
    expect(last().err).toMatchObject({
      message: 'could not store',
      cause: { message: 'duplicate key', code: '23505' },
    });
    expect(lines.join()).not.toMatch(/a cat|insert/);
    nest.error({ event: 'task.run_failed', cause });
    expect(last().cause).toMatchObject({ message: 'duplicate key', code: '23505' });
    expect(lines.join()).not.toMatch(/a cat|insert/);
    nest.error(new Error('bare'), 'stack of it', 'jobs');
    expect(last()).toMatchObject({ context: 'jobs', err: { message: 'bare' } });
  });

  it('repeats no secret, at any depth', () => {
    const { nest, lines } = logger();
    const key = `dr_${'a'.repeat(46)}`;
    const secrets = {
      authorization: `Bearer ${key}`,
      prompt: 'a cat',
      request: { cookie: 'c=1', headers: { x: key } },
    };
    nest.log({ event: 'x', ...secrets });
    nest.log(`called https://cdn.example/file?signature=abc with Bearer ${key} on postgres://me:hunter2@db/x`);
    nest.error(new Error(`no answer from https://cdn.example/f.png?signature=abc for ${key}, whsec_${'b'.repeat(32)}`));
    expect(lines.join()).not.toMatch(/aaaa|bbbb|a cat|c=1|signature|hunter2/);
  });
});

describe('scrubbing', () => {
  it.each([
    ['GET https://a.example/x?y=1&z=2 failed', 'GET https://a.example/x?… failed'],
    ['"http://a.example/x?y=1"', '"http://a.example/x?…"'],
    ['postgres://me:pw@db:5432/x', 'postgres://…@db:5432/x'],
    ['Authorization: Bearer abcdefgh.ijk', 'Authorization: Bearer …'],
    ['task_01jd8e5t9kf3qs7m2v4xw6yzab moved', 'task_01jd8e5t9kf3qs7m2v4xw6yzab moved'],
    ['http://a.example http://b.example?k=1', 'http://a.example http://b.example?…'],
  ])('%s', (text, scrubbed) => expect(scrub(text)).toBe(scrubbed));

  it.each(['http://', 'a.', '://a', 'Bearer ', '"key":"', '\\\\"'])(
    'takes a moment for a line of nothing but %j',
    (part) => {
      const line = `${part.repeat(4_000_000 / part.length)}://`;
      expect(scrub(line).length).toBeGreaterThan(2_000_000);
    },
  );
});

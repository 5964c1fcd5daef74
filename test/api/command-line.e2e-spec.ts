import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SharedService, joinService } from '../support/service.ts';
import { aCat, aFailure } from '../support/clients/api.ts';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runBatch } from '../../src/cli/commands/batch.ts';
import { linesOf } from '../support/clients/batches.ts';
import { promisify } from 'node:util';
import { blocksOf } from '../../scripts/docs-check/blocks.ts';

const DARKROOM = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

describe('the command line', () => {
  let service: SharedService;
  let folder: string;
  beforeAll(async () => {
    service = await joinService();
    folder = await mkdtemp(join(tmpdir(), 'cli-'));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  /** Runs the built command in a pipe, as a script does. */
  const darkroom = (args: string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const variables = {
        PATH: process.env.PATH,
        DARKROOM_URL: service.baseUrl,
        DARKROOM_API_KEY: service.api.key!,
        ...env,
      };
      execFile(process.execPath, [DARKROOM, ...args], { cwd: folder, env: variables }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });

  it('generates, and prints plain lines in a pipe', async () => {
    const { code, out, err } = await darkroom(['generate', 'A cat', '--model', 'gpt-image-2', '--out', 'cat.png']);
    expect([code, out]).toEqual([0, 'cat.png\n']);
    expect(err).toMatch(/^task_\w{26}\n(?:\w+ [0-9]+ %\n)+$/);
    expect((await readFile(join(folder, 'cat.png'))).subarray(1, 4).toString()).toBe('PNG');
  });

  it('lists, shows, waits for, repeats and cancels tasks', async () => {
    const { body: task } = await service.api.create({ ...aCat, metadata: { team: 'a=b' } });
    await service.api.untilFinal(task.task_id);
    const listed = await darkroom(['tasks', 'list', '--metadata', 'team=a=b', '--json']);
    expect(JSON.parse(listed.out).map(({ task_id }: { task_id: string }) => task_id)).toEqual([task.task_id]);
    expect((await darkroom(['tasks', 'list', '--limit', '1'])).out.trim().split('\n')).toHaveLength(2);
    expect((await darkroom(['tasks', 'get', task.task_id])).out).toContain('succeeded');
    const waited = await darkroom(['tasks', 'wait', task.task_id, '--out', 'waited']);
    expect(waited.out.trim()).toBe(join('waited', (await readdir(join(folder, 'waited')))[0]!));
    const again = await darkroom(['tasks', 'retry', task.task_id, '--prompt', 'A dog', '--json', '--out', 'again']);
    expect(JSON.parse(again.out)).toMatchObject({ parent_task_id: task.task_id, input: { prompt: 'A dog' } });
    const { body: hanging } = await service.api.create({ ...aCat, prompt: '#hang' });
    const timeout = await darkroom(['tasks', 'wait', hanging.task_id, '--timeout', '0.5']);
    expect([timeout.code, timeout.err]).toEqual([
      5,
      expect.stringContaining(`npx darkroom tasks wait ${hanging.task_id}`),
    ]);
    const cancelled = await darkroom(['tasks', 'cancel', hanging.task_id, '--json']);
    expect(JSON.parse(cancelled.out)).toEqual({ cancelled: 1, already_final: 0, not_found: 0 });
  });

  it('keeps a task, moves it to another collection, and gives it up', async () => {
    const { task_id } = await service.api.untilFinal((await service.api.create(aCat)).body.task_id);
    const kept = JSON.parse((await darkroom(['tasks', 'keep', task_id, '--collection', 'Covers', '--json'])).out);
    expect(kept).toMatchObject({ task_id, kept: true, collection: 'Covers', expires_at: null });
    await darkroom(['tasks', 'keep', task_id]);
    expect((await service.api.get(`/v1/tasks/${task_id}`)).body).toMatchObject({ kept: true, collection: null });
    const givenUp = JSON.parse((await darkroom(['tasks', 'keep', task_id, '--give-up', '--json'])).out);
    expect(givenUp).toMatchObject({ kept: false, expires_at: expect.any(Number) });
  });

  it('uploads, lists, downloads and deletes files', async () => {
    const { body } = await service.api.create(aCat);
    const task = await service.api.untilFinal(body.task_id);
    await darkroom(['files', 'get', `file_${body.task_id.slice('task_'.length)}_0`, '--out', 'output.png']);
    expect((await readFile(join(folder, 'output.png'))).length).toBe(task.result!.outputs[0]!.size_bytes);
    const id = (await darkroom(['files', 'upload', 'output.png'])).out.trim();
    expect(id).toMatch(/^file_\w{26}$/);
    expect((await darkroom(['files', 'list'])).out).toContain('output.png');
    expect((await darkroom(['files', 'delete', id])).out).toBe(`deleted ${id}\n`);
  });

  it('lists models and their parameters', async () => {
    expect((await darkroom(['models'])).out).toMatch(/^sora-2 +video +operational/m);
    expect((await darkroom(['models', 'seedance-2'])).out).toMatch(/^duration +4 to 15 +5/m);
  });

  it.each([
    [
      '1 and names the field',
      ['generate', 'A cat', '--model', 'gpt-image-2', '--n', '11'],
      {},
      1,
      /^error: value_out_of_range \(n\): .+\n$/,
    ],
    [
      '1 and says what to do about the key',
      ['models'],
      { DARKROOM_API_KEY: 'dr_wrong' },
      1,
      /^error: invalid_api_key: .*DARKROOM_API_KEY.*\n$/,
    ],
    ['2 for a wrong option', ['models', '--colour'], {}, 2, /unknown option/],
    [
      '3 for a task that fails',
      ['generate', aFailure.prompt, '--model', 'gpt-image-2'],
      {},
      3,
      /\nerror: content_policy_violation: .+\n$/,
    ],
    [
      '4 without a service',
      ['models'],
      { DARKROOM_URL: 'http://127.0.0.1:1' },
      4,
      /^error: http:\/\/127\.0\.0\.1:1 cannot be reached\..+\n$/,
    ],
  ])('exits with %s', async (_, args, env, code, message) => {
    const run = await darkroom(args, env as Record<string, string>);
    expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)]);
  });

  it('groups usage by a metadata key with a comma, in double quotes', async () => {
    await darkroom(['generate', aFailure.prompt, '--model', 'gpt-image-2']);
    const { code, out } = await darkroom(['usage', '--by', 'all', '--group', 'model,"metadata.a,b"', '--json']);
    expect(code).toBe(0);
    const { data } = JSON.parse(out) as { data: { results: Record<string, unknown>[] }[] };
    expect(data[0]!.results[0]).toMatchObject({ model: 'gpt-image-2', 'metadata.a,b': null });
  });

  it('shows an example of every command that calls the service', async () => {
    for (const command of [
      'generate',
      'batch',
      'models',
      'usage',
      'trigger',
      'tasks list',
      'tasks wait',
      'files get',
    ]) {
      expect((await darkroom([...command.split(' '), '--help'])).out).toContain(`\nExample: npx darkroom ${command}`);
    }
  });

  it('completes its commands in bash', async () => {
    const { out } = await darkroom(['completion', 'bash']);
    await writeFile(join(folder, 'completion.bash'), out);
    const complete = `source completion.bash; COMP_WORDS=(darkroom tasks re); COMP_CWORD=2; _darkroom; echo "\${COMPREPLY[@]}"`;
    const words = await new Promise((resolve) =>
      execFile('bash', ['-c', complete], { cwd: folder }, (_error, stdout) => resolve(stdout.trim())),
    );
    expect(words).toBe('retry');
  });
});

describe('darkroom batch', () => {
  let service: SharedService;
  let folder: string;
  beforeAll(async () => {
    service = await joinService();
    folder = await mkdtemp(join(tmpdir(), 'batch-'));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const run = async (bodies: object[], more: object = {}) => {
    const file = join(folder, 'requests.jsonl');
    const line = (body: object, nth: number) =>
      JSON.stringify({ custom_id: `n${nth}`, method: 'POST', url: '/v1/generations', body });
    await writeFile(file, bodies.map(line).join('\n'));
    const out = new PassThrough();
    const printed = text(out);
    const options = {
      endpoint: '/v1/generations',
      priority: 'low' as const,
      url: service.baseUrl,
      key: service.api.key!,
    };
    const failure = await runBatch(file, { ...options, ...more }, out).then(
      () => null,
      (error: Error) => error.message,
    );
    out.end();
    return { failure, results: linesOf(await printed) };
  };

  it('prints the results of every item, and fails when one did not succeed', async () => {
    const { failure, results } = await run([aFailure, { model: 'gpt-image-2', prompt: 'A cat' }]);
    expect(failure).toBe('1 of 2 items did not succeed.');
    expect(results.map(({ custom_id, error }) => [custom_id, error?.code])).toEqual([
      ['n0', 'content_policy_violation'],
      ['n1', undefined],
    ]);
  });

  it('prints why a batch is refused, or skips the invalid items', async () => {
    const refused = await run([aFailure, {}]);
    expect(refused.failure).toContain('items are invalid');
    expect(refused.results).toEqual([]);
    const skipped = await run([aFailure, {}], { skipInvalid: true });
    expect(skipped.results.map(({ error }) => error?.code)).toEqual([
      'content_policy_violation',
      'missing_required_parameter',
    ]);
  });
});

/**
 * After the block that starts a service, which `npm run docs:check` runs. Each fails when the service does not do what
 * the page says.
 */
const [, ...commands] = blocksOf(new URL('../../', import.meta.url).pathname, 'docs/guides/testing.md')
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text);

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service.close());

describe('docs/guides/testing.md', () => {
  it('has commands', () => expect(commands).toHaveLength(4));

  it.each(commands)('runs %s', async (command) => {
    const env = { PATH: process.env.PATH, DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key! };
    const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-ec', command], { env });
    expect(stdout).toContain('"object":"task"');
  });
});

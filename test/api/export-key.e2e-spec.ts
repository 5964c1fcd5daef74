import { jest } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { keysCommand } from '../../src/cli/commands/keys.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { aCat, Api, type TaskBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { aPicture, FilesClient, sha256 } from '../support/clients/files.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { darkroom, killDarkroomWhen } from '../support/darkroom-command.ts';
import { Receiver } from '../support/servers/receiver.ts';

/** More than two pages. */
const MANY = 230;

interface Manifest {
  api_key_id: string;
  kinds: Record<string, { file: string; lines: number; bytes: number; sha256: string }>;
  files: { count: number; bytes: number; missing: string[] } | null;
}
type Line = Record<string, unknown>;

describe('darkroom keys export', () => {
  let service: SharedService;
  let database: Client;
  let receiver: Receiver;
  let folder: string;
  let other: Awaited<ReturnType<typeof fullKey>>;
  beforeAll(async () => {
    service = await joinService();
    Object.assign(process.env, service.env); // of this test file alone
    receiver = await Receiver.start();
    database = new Client({ connectionString: service.database.url });
    await database.connect();
    folder = mkdtempSync(join(tmpdir(), 'exports-'));
    other = await fullKey('stays');
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database?.end();
    await receiver?.stop();
    await service?.close();
  });

  /** Runs the command in this process, which is cheaper than to load it for each run. @returns what it prints */
  async function exported(id: string, out: string, ...more: string[]): Promise<string> {
    const printed = [];
    for (const stream of ['log', 'error'] as const) {
      printed.push(jest.spyOn(console, stream).mockImplementation(() => undefined));
    }
    try {
      await keysCommand().parseAsync(['export', id, '--out', out, ...more], { from: 'user' });
      return printed.flatMap(({ mock }) => mock.calls.flat()).join('\n');
    } finally {
      jest.restoreAllMocks();
    }
  }

  const linesOf = (out: string, kind: string): Line[] =>
    readFileSync(join(out, `${kind}.ndjson`), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  const manifestOf = (out: string) => JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as Manifest;

  /** A key with one of each kind, and many tasks. */
  async function fullKey(name: string) {
    const { id, key } = await anotherKey(service.api, { name });
    const api = new Api(service.baseUrl, key);
    const webhooks = new WebhookClient(api);
    const endpoint = await webhooks.endpoint(`${receiver.url}/${name}`);
    const { body } = await api.create({ ...aCat, metadata: { of: name } });
    const task = await api.untilFinal(body.task_id);
    const picture = await aPicture();
    const { body: upload } = await new FilesClient(api).upload(picture);
    const batches = new BatchClient(api);
    const batch = await batches.of([aCat]);
    await batches.untilEnded(batch.id);
    await webhooks.ended(endpoint.id, 2);
    return { id, api, task, upload, picture, batch, endpoint };
  }

  it('writes everything of the key as the API shows it, and nothing of another', async () => {
    const { id, api, task, upload, picture, batch, endpoint } = await fullKey('exported');
    await database.query(
      `insert into tasks_done (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, error)
       select 'task_' || substr(md5($1 || nth), 1, 26), $1, 'image', 'gpt-image-2', 'failed', '{"prompt": "old"}', now(), now(),
              now(), now() + interval '1 day', '{"code": "task_cancelled", "message": "", "retryable": false}'
       from generate_series(1, $2::int) as nth`,
      [id, MANY],
    );
    const out = join(folder, 'whole');
    const run = await darkroom(['keys', 'export', id, '--out', out, '--files'], service.env);
    expect(run).toMatchObject({ code: 0 });
    expect(run.err).toContain(`${MANY + 2} tasks`);

    const manifest = manifestOf(out);
    expect(manifest).toMatchObject({ api_key_id: id, files: { count: 3, missing: [] } });
    for (const { file, lines, bytes, sha256: hash } of Object.values(manifest.kinds)) {
      const content = readFileSync(join(out, file));
      expect([file, content.length, sha256(content)]).toEqual([file, bytes, hash]);
      expect(content.toString().split('\n').length - 1).toBe(lines);
    }

    const tasks = linesOf(out, 'tasks') as unknown as TaskBody[];
    expect(new Set(tasks.map(({ task_id }) => task_id)).size).toBe(MANY + 2);
    const { body: shown } = await api.get(`/v1/tasks/${task.task_id}`);
    expect(tasks.find(({ task_id }) => task_id === task.task_id)).toEqual(shown);
    const { body: key } = await service.api.get<Line>(`/v1/api_keys/${id}`);
    expect(linesOf(out, 'api_key')).toEqual([{ ...key, last_used_at: expect.anything() }]);
    const { body: file } = await api.get<Line>(`/v1/files/${upload.id}`);
    expect(linesOf(out, 'files')).toEqual([file]);
    expect(linesOf(out, 'batches')).toEqual([(await api.get<Line>(`/v1/batches/${batch.id}`)).body]);
    expect(linesOf(out, 'webhook_endpoints')).toEqual([(await api.get(`/v1/webhook_endpoints/${endpoint.id}`)).body]);
    const deliveries = await api.get<{ data: Line[] }>(`/v1/webhook_endpoints/${endpoint.id}/deliveries?limit=100`);
    expect(linesOf(out, 'webhook_deliveries')).toEqual(deliveries.body.data);
    const events = linesOf(out, 'webhook_events');
    expect(events.length).toBe(new Set(deliveries.body.data.map((each) => each.event_id)).size);
    expect(events[0]).toEqual((await api.get<Line>(`/v1/webhook_events/${events[0]!.id as string}`)).body);
    const usage = linesOf(out, 'usage') as { results: { tasks: number; model: string }[] }[];
    expect(usage.flatMap(({ results }) => results)).toEqual([
      expect.objectContaining({ tasks: 2, model: 'gpt-image-2' }),
    ]);
    expect(linesOf(out, 'audit_events')).toEqual([
      expect.objectContaining({ action: 'api_key.created', target_id: id }),
    ]);

    const output = task.result!.outputs[0]!;
    expect(sha256(readFileSync(join(out, 'files', `${output.id}.png`)))).toBe(output.sha256);
    expect(sha256(readFileSync(join(out, 'files', `${upload.id}.png`)))).toBe(sha256(picture));
    for (const name of readdirSync(out).filter((each) => each.endsWith('.ndjson'))) {
      const text = readFileSync(join(out, name), 'utf8');
      for (const foreign of [other.id, other.task.task_id, other.upload.id, other.endpoint.id]) {
        expect([name, text.includes(foreign)]).toEqual([name, false]);
      }
    }
  });

  it('also exports a revoked key, without bytes unless asked; what the storage lacks or has damaged is named', async () => {
    const { id, api, task, batch } = await fullKey('revoked');
    const inline = await aPicture(40, 30);
    const reference_images = [`data:image/png;base64,${inline.toString('base64')}`];
    const { body: edited } = await api.create({ ...aCat, reference_images });
    await api.untilFinal(edited.task_id);
    expect((await service.api.call('DELETE', `/v1/api_keys/${id}`)).status).toBe(204);
    const plain = await exported(id, join(folder, 'plain'), '--json');
    expect(JSON.parse(plain)).toMatchObject({ files: null, kinds: { tasks: { lines: 3 }, files: { lines: 2 } } });

    rmSync(join(service.env.DATA_DIR!, 'files', task.task_id), { recursive: true });
    const { rows } = await database.query<{ id: string }>('select id from tasks where batch_id = $1', [batch.id]);
    writeFileSync(join(service.env.DATA_DIR!, 'files', rows[0]!.id, '1-0.png'), 'something else');
    const out = join(folder, 'lost');
    await exported(id, out, '--files');
    expect(manifestOf(out).files).toMatchObject({
      count: 3,
      missing: [task.result!.outputs[0]!.id],
      damaged: [expect.stringMatching(/_0$/)],
    });
    const files = readdirSync(join(out, 'files'));
    expect(files.length).toBe(3);
    // The picture that came inside a request, by the name that the exported task has for it.
    const sent = linesOf(out, 'tasks').find(({ task_id }) => task_id === edited.task_id) as {
      input: { reference_images: string[] };
    };
    const copied = readFileSync(join(out, 'files', `${sent.input.reference_images[0]}.png`));
    expect(sha256(copied)).toBe(sha256(inline));
  });

  it('leaves nothing that looks whole when it is killed, and the next run begins again', async () => {
    const { id } = other;
    const out = join(folder, 'killed');
    const command = ['keys', 'export', id, '--out', out, '--files'];
    const written = () => (existsSync(out) ? readdirSync(out, { recursive: true, encoding: 'utf8' }) : []);
    await database.query('begin; lock table batches in access exclusive mode'); // whoever reads it waits
    const isHalfWay = () => written().some((name) => name.endsWith('batches.ndjson'));
    expect(await killDarkroomWhen(isHalfWay, command, service.env).finally(() => database.query('rollback'))).toBe(
      'SIGKILL',
    );
    expect(readdirSync(out)).toEqual(['unfinished-export']);
    expect(written()).toContain(join('unfinished-export', 'tasks.ndjson'));

    const again = async () => {
      await exported(id, out, '--files');
      expect(manifestOf(out)).toMatchObject({ kinds: { tasks: { lines: 2 } }, files: { count: 3, missing: [] } });
      const names = Object.values(manifestOf(out).kinds).map(({ file }) => file);
      expect(readdirSync(out).toSorted()).toEqual([...names, 'files', 'manifest.json'].toSorted());
    };
    await again();

    // Killed while it gave the files their names.
    mkdirSync(join(out, 'unfinished-export'));
    for (const name of ['manifest.json', 'usage.ndjson'])
      renameSync(join(out, name), join(out, 'unfinished-export', name));
    await again();
  });

  it('refuses a folder with anything in it, and a key that does not exist', async () => {
    const { id } = await anotherKey(service.api);
    const full = join(folder, 'full');
    mkdirSync(join(full, 'unfinished-export'), { recursive: true });
    writeFileSync(join(full, 'mine.txt'), 'mine');
    await expect(exported(id, full)).rejects.toThrow('is not empty');
    expect(readdirSync(full)).toEqual(['mine.txt', 'unfinished-export']);
    const missing = join(folder, 'missing');
    await expect(exported('key_01jd8e5t9kf3qs7m2v4xw6yzab', missing)).rejects.toThrow('There is no API key');
  });
});

import { jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { installWithoutDevelopment } from '../support/installed.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { VERSION } from '../../src/platform/config/version.ts';
import { makeSigningCredential } from '../support/servers/certificate.ts';
import { GeminiStub } from '../support/stubs/gemini.stub.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

const TYPES: Record<string, RegExp> = { '.js': /javascript/, '.css': /css/, '.svg': /svg/, '.woff2': /font/ };

/** Rendering shares the cores with other tests. */
jest.setTimeout(330_000);

/** Without a collection of garbage it has over 250 MB. */
const MAX_IDLE_KB = 230 * 1024;

/** What is loaded only when it is needed: clients of providers and of a bucket, threads, formats of files. */
describe('the built program beside its dependencies alone', () => {
  const openai = new OpenaiStub();
  const gemini = new GeminiStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-bucket-'));
  const bucket = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'results', configs: [] }],
  });
  const installed = installWithoutDevelopment();
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    const [{ port }] = await Promise.all([bucket.run(), openai.start(), gemini.start()]);
    const { cert, key } = makeSigningCredential();
    const files = { C2PA_CERT: join(folder, 'cert.pem'), C2PA_KEY: join(folder, 'key.pem') };
    writeFileSync(files.C2PA_CERT, cert);
    writeFileSync(files.C2PA_KEY, key);
    database = await cloneDatabase();
    const { env } = await testEnv(database.url, {
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      GEMINI_API_KEY: gemini.key,
      GEMINI_BASE_URL: gemini.baseUrl,
      STORAGE_URL: `s3://results?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      PROVENANCE: 'c2pa',
      ...files,
    });
    service = await spawnService(env, join(installed, 'dist/main.js'));
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await Promise.all([openai.stop(), gemini.stop(), bucket.close()]);
    await database?.drop();
    for (const each of [folder, installed]) rmSync(each, { recursive: true, force: true });
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('gives back the memory that only its start needed, once it is idle', async () => {
    await eventually('less memory', async () => {
      const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) < MAX_IDLE_KB;
    });
  });

  it.each([
    ['OpenAI', { model: 'gpt-image-2', prompt: 'A cat' }],
    ['Gemini', { model: 'nano-banana-2', prompt: 'A cat' }],
    ['the sandbox', { model: 'sora-2', prompt: 'A wave', resolution: '720P', duration: 4 }],
  ])('stores what %s makes, signed, in the bucket', async (_maker, request) => {
    const { body } = await service.api.create(request);
    const { error, result } = await service.api.untilFinal(body.task_id);
    expect(error).toBeUndefined();
    const bytes = Buffer.from(await (await fetch(result!.outputs[0]!.url)).arrayBuffer());
    expect(bytes.byteLength).toBe(result!.outputs[0]!.size_bytes);
    expect(bytes.includes('c2pa.created')).toBe(true);
  });

  it('has the command line', async () => {
    const command = join(installed, 'dist/cli/darkroom.js');
    const { status, stdout } = spawnSync(process.execPath, [command, 'models', '--help'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: darkroom models')]);
  });

  it.each(['/app/', '/docs', '/graphiql'])('serves %s and every file that it names', async (path) => {
    const page = await fetch(new URL(path, service.api.baseUrl));
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    const named = [...(await page.text()).matchAll(/<(?:script|link)[^>]*?(?:src|href)="([^"]+)"/g)].map(
      ([, address]) => address!,
    );
    expect(named.some((address) => address.endsWith('.js'))).toBe(true);
    for (const address of named.filter((each) => !each.startsWith('data:'))) {
      const { status, headers, body } = await fetch(new URL(address, page.url));
      await body?.cancel();
      const type = expect.stringMatching(TYPES[/\.\w+$/.exec(address)?.[0] ?? ''] ?? /./);
      expect([address, status, headers.get('content-type')]).toEqual([address, 200, type]);
    }
  });

  it('serves the clients, the texts for language models and the workers of GraphiQL', async () => {
    for (const [path, type] of [
      ['/client.tgz', /gzip|octet-stream/],
      [`/python/darkroom_client-${VERSION}-py3-none-any.whl`, /zip/],
      ['/llms.txt', /text\/plain/],
      ['/graphiql/json.js', /javascript/],
      ['/graphiql/graphql.js', /javascript/],
      ['/graphiql/editorWorkerService.js', /javascript/],
    ] as const) {
      const { status, headers } = await fetch(new URL(path, service.api.baseUrl));
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, expect.stringMatching(type)]);
    }
  });
});

import { jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { installWithoutDevelopment } from '../support/installed.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { makeSigningCredential } from '../support/servers/certificate.ts';
import { GeminiStub } from '../support/stubs/gemini.stub.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

/** Rendering shares the cores with other tests. */
jest.setTimeout(330_000);

/** 167 MB were seen with the client of a bucket, on a busy machine, and 280 without a collection of garbage. */
const MAX_IDLE_KB = 190 * 1024;

/**
 * What the bundle loads only when it is needed, clients of providers and of a bucket, threads, and formats of files, where only the packages of
 * `npm ci --omit=dev` are installed.
 */
describe('the bundled program', () => {
  const openai = new OpenaiStub();
  const gemini = new GeminiStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-bundle-'));
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
    service = await spawnService(env, join(installed, 'dist/bundle/main.js'));
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

  it('names its types as the modules do', async () => {
    const names = ({ components }: { components: { schemas: object } }) => Object.keys(components.schemas);
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8'));
    const served = await service.api.get<{ components: { schemas: object } }>('/openapi.json');
    expect(names(served.body)).toEqual(names(committed));
  });

  it('has the command line', async () => {
    const command = join(installed, 'dist/cli/darkroom.js');
    const { status, stdout } = spawnSync(process.execPath, [command, 'models', '--help'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: darkroom models')]);
  });

  it('notes its packages and their licences', () => {
    const read = (name: string): string => readFileSync(join(installed, 'dist/bundle', name), 'utf8');
    const { devDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const fastify = `fastify@${devDependencies.fastify}`;
    expect(JSON.parse(read('packages.json'))).toContain(fastify);
    expect(read('licenses.txt')).toContain(`# ${fastify.replace('@', ' ')}: MIT\n\nMIT License\n\nCopyright`);
  });

  it('serves the files of the build', async () => {
    for (const path of ['/app/', '/docs/scalar.js', '/llms.txt', '/client.tgz', '/graphiql']) {
      expect([path, (await fetch(new URL(path, service.api.baseUrl))).status]).toEqual([path, 200]);
    }
  });
});

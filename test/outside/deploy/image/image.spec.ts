import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { aCat, Api } from '../../../support/clients/api.ts';
import { testEnv } from '../../../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, findTool, say } from '../tools.ts';

const MAX_BYTES = 650_000_000;
/** Read from packages that the image has in part. */
const PAGES = [
  '/docs',
  '/docs/scalar.js',
  '/llms-full.txt',
  '/llms/api/tasks.md',
  '/openapi.json',
  '/graphiql',
  '/graphiql/graphiql.js',
  '/graphiql/json.js',
];
const here = (name: string): string => join(import.meta.dirname, name);

interface Image {
  Docker: { config: { Env: string[]; Cmd: string[]; User: string; WorkingDir: string } };
}

/** Building takes many minutes, so this is a step of its own. */
const isBuilt = ((): boolean => {
  if (findTool('buildah') === null || process.getuid?.() !== 0) return false;
  try {
    execFileSync(here('size.sh'), { stdio: 'ignore' });
    return true;
  } catch {
    say('SKIPPED the image: build it first with test/outside/deploy/image/build.sh');
    return false;
  }
})();

describeWith({ buildah: 'Debian 13: buildah netavark mmdebstrap', unshare: 'Debian: util-linux' }, 'the image', () => {
  const run = isBuilt ? it : it.skip;
  let root: string;
  let image: Image['Docker']['config'];
  let database: TestDatabase;
  let folder: string;
  let server: S3rver;

  beforeAll(async () => {
    if (!isBuilt) return;
    const [first = '', ...json] = execFileSync(here('mount.sh'), { encoding: 'utf8' }).split('\n');
    root = first;
    image = (JSON.parse(json.join('\n')) as Image).Docker.config;
    database = await cloneDatabase();
    folder = mkdtempSync(join(tmpdir(), 'darkroom-image-test-'));
    server = new S3rver({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory: folder,
      configureBuckets: [{ name: 'results', configs: [] }],
    });
  });
  afterAll(async () => {
    if (!isBuilt) return;
    await server.close();
    await database.drop();
    rmSync(folder, { recursive: true });
    execFileSync(here('mount.sh'), ['--remove']);
  });

  run('has at most 650 MB', () => {
    const bytes = Number(execFileSync(here('size.sh'), { encoding: 'utf8' }));
    say(`the image has ${(bytes / 1e6).toFixed(0)} MB`);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  run('makes a picture and a film as 1000 on a read-only root with a bucket', async () => {
    expect(['node', '1000:1000']).toContain(image.User);
    const { port } = await server.run();
    const { env } = await testEnv(database.url, {
      DATA_DIR: '/data',
      STORAGE_URL: `s3://results?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      HOST: '127.0.0.1',
      GRAPHQL_INTROSPECTION: 'on',
      LOG_LEVEL: 'warn',
    });
    const variables = { ...Object.fromEntries(image.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))), ...env };
    const child = spawn(here('run.sh'), [root, image.WorkingDir, ...image.Cmd], { env: variables });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
    const ended = once(child, 'exit');
    try {
      await eventually('the image to serve', async () => {
        if (child.exitCode !== null) throw new Error(output);
        return output.includes('Darkroom is ready');
      });
      const api = new Api(env.PUBLIC_URL!, env.BOOTSTRAP_API_KEY!);
      const wanted = [aCat, { model: 'sora-2', prompt: 'Waves', resolution: '720P', duration: 1 }];
      for (const request of wanted) {
        const { body } = await api.create(request);
        const { status, error, result } = await api.untilFinal(body.task_id);
        if (status !== 'succeeded') throw new Error(`${JSON.stringify(error)}\n${output}`);
        const file = await fetch(result!.outputs[0]!.url);
        expect((await file.arrayBuffer()).byteLength).toBe(result!.outputs[0]!.size_bytes);
      }
      for (const path of PAGES) {
        const page = await fetch(`${api.baseUrl}${path}`);
        expect([path, page.status, (await page.text()).length > 100]).toEqual([path, 200, true]);
      }
    } finally {
      child.kill('SIGTERM');
      const [code] = await ended;
      expect([code, output]).toEqual([0, expect.not.stringMatching(/EROFS|EACCES/)]);
    }
  });

  run('has a command line, and a list of its packages', () => {
    const variables = Object.fromEntries(image.Env.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    const inImage = (...command: string[]): string =>
      execFileSync(here('run.sh'), [root, image.WorkingDir, ...command], { env: variables, encoding: 'utf8' });
    expect(inImage('node', 'dist/cli/darkroom.js', '--help')).toContain('doctor');
    expect(JSON.parse(inImage('cat', 'dist/sbom.json'))).toMatchObject({ bomFormat: 'CycloneDX' });
    expect(() => inImage('touch', '/app/x')).toThrow(/Read-only/);
    expect(inImage('id', '-u').trim()).toBe('1000');
  });
});

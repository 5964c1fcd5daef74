import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { execute, itWith, toolOf } from './support/tools.ts';

const root = new URL('../../../', import.meta.url).pathname;
const programs = join(root, 'test/outside/client/generators');
const spec = join(root, 'openapi.json');
const bin = (name: string) => toolOf(`node_modules/.bin/${name}`);

/** Clients made by what the ecosystem has for it: each compiles, makes a picture and downloads it. */
describe('a client generated from openapi.json', () => {
  let service: OwnService;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    service = await startOwnService();
    env = { DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key! };
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'generated-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Compiles the program in strict mode and runs it. */
  async function typescript(program: string, modules: string, files: string[]): Promise<string> {
    await symlink(modules, join(folder, 'node_modules'));
    await cp(join(programs, program), join(folder, program));
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      lib: ['esnext', 'dom', 'dom.iterable'],
      strict: true,
      skipLibCheck: false,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
      outDir: 'built',
      rootDir: '.',
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [program, ...files] }));
    await execute(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder], folder);
    return execute(process.execPath, [join('built', program.replace(/ts$/, 'js'))], folder, env);
  }

  itWith([bin('openapi-typescript')], 'by openapi-typescript makes a picture', async () => {
    await execute(
      process.execPath,
      [bin('openapi-typescript'), spec, '-o', 'schema.d.ts', '--default-non-nullable=false'],
      folder,
    );
    expect((await typescript('openapi-fetch.ts', toolOf('node_modules'), ['schema.d.ts'])).trim()).toBe('image/png');
  });

  it('by @hey-api/openapi-ts makes a picture', async () => {
    const generator = join(root, 'node_modules/.bin/openapi-ts');
    // The same extensions in imports as the compiler wants.
    const config = {
      input: spec,
      output: { path: 'sdk', module: { extension: '.js' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    };
    await writeFile(join(folder, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(config)};`);
    await execute(process.execPath, [generator], folder);
    expect((await typescript('hey-api.ts', join(root, 'node_modules'), [])).trim()).toBe('image/png');
  });

  itWith([toolOf('python/bin/openapi-python-client')], 'by openapi-python-client makes a picture', async () => {
    const python = toolOf('python/bin');
    const withRuff = { PATH: `${python}:${process.env.PATH}` };
    const args = ['generate', '--path', spec, '--output-path', 'client'];
    await execute(join(python, 'openapi-python-client'), args, folder, withRuff);
    await cp(join(programs, 'program.py'), join(folder, 'client/program.py'));
    expect((await execute(join(python, 'python'), ['program.py'], join(folder, 'client'), env)).trim()).toBe(
      'image/png',
    );
  });

  itWith(['go', toolOf('go/oapi-codegen')], 'by oapi-codegen makes a picture', async () => {
    const module = join(folder, 'go');
    await mkdir(module);
    const config = {
      package: 'main',
      output: 'client.gen.go',
      generate: { models: true, client: true },
      'output-options': { 'skip-prune': true },
    };
    await writeFile(join(module, 'config.yaml'), JSON.stringify(config));
    await cp(join(programs, 'main.go'), join(module, 'main.go'));
    await execute(toolOf('go/oapi-codegen'), ['-config', 'config.yaml', spec], module);
    await execute('go', ['mod', 'init', 'example.com/picture'], module);
    await execute('go', ['mod', 'tidy'], module);
    expect((await execute('go', ['run', '.'], module, env)).trim()).toBe('image/png');
  });
});

describe('openapi.json', () => {
  itWith([bin('redocly')], 'has no error for redocly', async () => {
    const args = [bin('redocly'), 'lint', '--format', 'json', spec];
    const { totals } = JSON.parse(await execute(process.execPath, args, tmpdir(), { REDOCLY_TELEMETRY: 'off' }));
    expect(totals.errors).toBe(0);
  });

  itWith([bin('spectral')], 'has no error for spectral', async () => {
    const ruleset = join(await mkdtemp(join(tmpdir(), 'spectral-')), 'ruleset.json');
    await writeFile(ruleset, '{ "extends": ["spectral:oas"] }');
    const args = [bin('spectral'), 'lint', '--ruleset', ruleset, '--format', 'json', '--fail-severity', 'error', spec];
    await execute(process.execPath, args, tmpdir());
  });
});

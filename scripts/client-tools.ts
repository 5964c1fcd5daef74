// Installs the generators, linters and runtimes with which test/outside/client checks the API. They are installed
// outside of the clone, by `npm run check:clients`. If one cannot be installed, the program says so, and the tests skip
// it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const tools = process.env.DARKROOM_TEST_TOOLS ?? join(homedir(), '.cache/darkroom-client-tools');
const python = process.env.PYTHON ?? 'python3';

const PACKAGES = [
  '@redocly/cli@2.77.0',
  '@stoplight/spectral-cli@6.16.3',
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3', // openapi-typescript needs it
  'deno@2.9.6',
  'bun@1.4.5',
  'miniflare@4.20260730.0',
];
/** Whether a package may run its install script. Two of the packages install their program only by that script. */
const WITH_INSTALL_SCRIPTS = { bun: true, deno: true, workerd: true, '@scarf/scarf': false };

mkdirSync(tools, { recursive: true });
const manifest = { name: 'client-tools', private: true, type: 'module', allowScripts: WITH_INSTALL_SCRIPTS };
writeFileSync(join(tools, 'package.json'), JSON.stringify(manifest));

attempt('npm packages', 'npm', ['install', '--no-audit', '--no-fund', ...PACKAGES]);
attempt('a Python', python, ['-m', 'venv', 'python']);
attempt('openapi-python-client', 'python/bin/pip', ['install', '--quiet', 'openapi-python-client==0.29.1']);
const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
attempt('oapi-codegen', 'go', ['install', generator], { GOBIN: join(tools, 'go') });

function attempt(what: string, program: string, args: string[], env: Record<string, string> = {}): void {
  try {
    execFileSync(program, args, { cwd: tools, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    console.log(`installed: ${what}`);
  } catch (error) {
    console.log(`SKIPPED: ${what}: ${(error as Error).message.split('\n', 2).join(' ')}`);
  }
}

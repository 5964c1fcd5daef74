import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../benchmarks/support/free-port.ts';
import { pagesOf } from './docs-check/blocks.ts';
import { Page, type Report } from './docs-check/run-page.ts';
import { missingTools } from './docs-check/tools.ts';

/**
 * Runs every command of README.md and docs/guides as a reader would. It runs them in a fresh clone, against the service
 * that README.md starts. CONTRIBUTING.md lists the marks of blocks.
 *
 *     npm run docs:check                    a clone of the last commit, with `npm ci`
 *     npm run docs:check -- --installed     a copy of this folder as it is, with its packages and its build
 *     npm run docs:check -- webhooks        only pages with this in their name, after README.md
 */

const ROOT = new URL('../', import.meta.url).pathname;
const { values, positionals } = parseArgs({ options: { installed: { type: 'boolean' } }, allowPositionals: true });
const folder = mkdtempSync(join(tmpdir(), 'darkroom-docs-'));
const clone = join(folder, 'darkroom');
const counts = { ok: 0, FAILED: 0, 'LEFT OUT': 0 };
let startedAt = Date.now();

const report: Report = ({ page, line }, verdict, said = '') => {
  counts[verdict] += 1;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  startedAt = Date.now();
  console.log(`${verdict.padEnd(8)} ${page}:${line}${verdict === 'LEFT OUT' ? `: ${said}` : ` (${seconds} s)`}`);
  if (verdict === 'FAILED') console.log(said.trimEnd().replaceAll(/^/gm, '    | '));
};

makeClone();
const env = await environment();
const readme = await open('README.md', null);
const opened = new Set([readme.page]);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void leave().then(() => process.exit(1)));
try {
  await readme.page.run();
  const key = readme.page.printedKey;
  if (key === undefined) throw new Error('The service of README.md printed no API key.');
  for (const name of pagesOf(clone).filter(isWanted)) {
    const { page } = await open(name, { ...readme, key });
    opened.add(page);
    await page.run();
    await page.close();
  }
} finally {
  await leave();
}
console.log(`\n${counts.ok} passed, ${counts.FAILED} failed, ${counts['LEFT OUT']} skipped`);
process.exitCode = counts.FAILED > 0 ? 1 : 0;

async function leave(): Promise<void> {
  await Promise.all([...opened].map((page) => page.close()));
  rmSync(folder, { recursive: true, force: true });
}

interface Service {
  url: string;
  key: string;
  /** The environment that the command line shares with the service. */
  settings: Record<string, string>;
}

/** Starts a page. A page that starts a service talks to that service, any other page to the shared service. */
async function open(name: string, shared: Service | null): Promise<Service & { page: Page }> {
  const own = mkdtempSync(join(folder, 'page-'));
  const port = await freePort();
  const starts = shared === null || /^(\w+=\S+ )*npm start/m.test(readFileSync(join(clone, name), 'utf8'));
  const started = {
    url: `http://127.0.0.1:${port}`,
    key: 'dr_…',
    settings: { PORT: String(port), DATA_DIR: join(own, 'data') },
  };
  const service: Service = starts ? started : shared;
  const { url, key, settings } = service;
  const real = { url, key, clone, receiverPort: await freePort() };
  const given = { DARKROOM_URL: url, ...(!starts && { DARKROOM_API_KEY: key }) };
  const page = new Page(name, { real, folder: own, env: { ...env, ...settings, ...given }, report });
  return { ...service, page };
}

function isWanted(page: string): boolean {
  return page !== 'README.md' && (positionals.length === 0 || positionals.some((part) => page.includes(part)));
}

function makeClone(): void {
  if (!values.installed) {
    execFileSync('git', ['clone', '--quiet', ROOT, clone]);
    return;
  }
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const path of files
    .toString()
    .split('\0')
    .filter((one) => one !== '' && one !== 'node_modules')) {
    if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(clone, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(clone, 'dist'), { recursive: true });
  console.log(`LEFT OUT \`npm ci\`: --installed uses the packages of ${ROOT}`);
}

/**
 * The environment of a reader's machine: this machine, with a Python of its own, and with `darkroom` as `npm install
 * --global .` installs it.
 */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const bin = join(folder, 'bin');
  const home = join(folder, 'home');
  mkdirSync(bin);
  mkdirSync(home);
  symlinkSync(process.execPath, join(bin, 'node'));
  symlinkSync(join(clone, 'dist/cli/darkroom.js'), join(bin, 'darkroom'));
  if (values.installed) writeCommand(join(bin, 'npm'), '[ "$*" = ci ] && exit 0\nPATH=${PATH#*:} exec npm "$@"');
  // curl fails on a refused request, so that the command counts as failed.
  writeFileSync(join(home, '.curlrc'), 'fail\nsilent\nshow-error\n');
  const python = join(folder, 'python');
  if ((await missingTools('pypi')).length === 0) execFileSync('python3', ['-m', 'venv', python]);
  // `npm run` passes on the settings of this folder's .npmrc. They are only for the packages of this folder, so they
  // are left out.
  const own = /^(npm_(package|lifecycle|config_(local|strict))|INIT_CWD|DARKROOM_|PORT$|DATA_DIR$)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
    PATH: [bin, join(python, 'bin'), process.env['PATH']].join(delimiter),
    CURL_HOME: home,
    // Webhooks go to receivers on this machine, so its addresses are allowed.
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
  };
}

function writeCommand(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Runs a benchmark by its name: `npm run bench -- http`. */

const FOLDER = new URL('../benchmarks/', import.meta.url);
const [name = '', ...rest] = process.argv.slice(2);
const file = new URL(`${name}.ts`, FOLDER);
if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
  const names = readdirSync(FOLDER).flatMap((entry) => (entry.endsWith('.ts') ? entry.slice(0, -3) : []));
  console.error(`There is no benchmark ${JSON.stringify(name)}. The benchmarks are ${names.join(', ')}.`);
  process.exit(2);
}
process.exitCode = spawnSync(process.execPath, [file.pathname, ...rest], { stdio: 'inherit' }).status ?? 1;

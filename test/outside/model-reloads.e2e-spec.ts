import { execFileSync } from 'node:child_process';

const SCRIPT = new URL('./model-reloads.mjs', import.meta.url).pathname;
/** Each version that stays costs 35 kB. */
const MOST_GROWTH = 8_000_000;

it('a thousand reloads of the folder of models leave no model in memory', () => {
  const out = execFileSync(process.execPath, ['--expose-gc', SCRIPT], { encoding: 'utf8' });
  const [first, last] = JSON.parse(out) as [number, number];
  expect(last - first).toBeLessThan(MOST_GROWTH);
}, 600_000);

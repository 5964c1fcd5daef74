import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { ROOT } from './build-parts.ts';

/** The packages in the bundle, as `name@version`. */
export const PACKAGES = `${ROOT}dist/bundle/packages.json`;
const LICENSES = `${ROOT}dist/bundle/licenses.txt`;
const LICENSE = /^(licen[cs]e|copying|notice)/i;

interface Package {
  name: string;
  version: string;
  license: string;
  texts: string[];
}

/**
 * Writes which packages are in the bundle, and the licences with which they must be passed on: an installation without
 * development packages does not have their folders.
 * @param modules paths of what is in the bundle
 */
export async function writePackages(modules: string[]): Promise<void> {
  const folders = new Set(modules.flatMap((path) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []));
  const packages = [...folders].toSorted().map(readPackage);
  const names = packages.map(({ name, version }) => `${name}@${version}`);
  await writeFile(PACKAGES, JSON.stringify([...new Set(names)], null, 2));
  await writeFile(LICENSES, packages.map(showLicense).join('\n'));
}

function readPackage(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Package;
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENSE.test(entry.name))
    .map((entry) => readFileSync(`${folder}/${entry.name}`, 'utf8').trim());
  return { name, version, license, texts };
}

const showLicense = ({ name, version, license, texts }: Package): string =>
  [`# ${name} ${version}: ${license}`, ...texts, ''].join('\n\n');

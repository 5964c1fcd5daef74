import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

import { PACKAGES } from './bundled-packages.ts';

/** Writes what the service consists of, the packages that are installed with it and those in its bundle, as CycloneDX to dist/sbom.json. */

const FILE = new URL('../dist/sbom.json', import.meta.url);
const MAX_BYTES = 64 * 1024 * 1024;
const DEVELOPMENT = 'cdx:npm:package:development';

interface Component {
  'bom-ref': string;
  scope?: string;
  properties?: { name: string; value: string }[];
}
interface Sbom {
  bomFormat: string;
  specVersion: string;
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
const sbom = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', maxBuffer: MAX_BYTES })) as Sbom;
if (sbom.bomFormat !== 'CycloneDX') throw new Error('npm wrote no CycloneDX document.');

// Those in the bundle are development packages, because an installation does without their folders.
const bundled = new Set(JSON.parse(readFileSync(PACKAGES, 'utf8')) as string[]);
const isDevelopment = ({ properties }: Component): boolean =>
  properties?.some(({ name }) => name === DEVELOPMENT) ?? false;
const components = sbom.components
  .filter((component) => !isDevelopment(component) || bundled.has(component['bom-ref']))
  .map((component) => ({
    ...component,
    scope: bundled.has(component['bom-ref']) ? 'required' : component.scope,
    properties: component.properties?.filter(({ name }) => name !== DEVELOPMENT),
  }));
const refs = new Set(components.map((component) => component['bom-ref']));
const missing = [...bundled].filter((name) => !refs.has(name));
if (missing.length > 0) throw new Error(`npm does not list these packages of the bundle: ${missing.join(', ')}`);

const root = sbom.dependencies[0]!;
const dependencies = sbom.dependencies
  .filter(({ ref }) => ref === root.ref || refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn?.filter((name) => refs.has(name)) }));
writeFileSync(FILE, JSON.stringify({ ...sbom, components, dependencies }, null, 2));
console.log(`dist/sbom.json: CycloneDX ${sbom.specVersion}, ${components.length} packages`);

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

/** Writes the list of packages of the service, without development packages, as CycloneDX to dist/sbom.json. */

const FILE = new URL('../dist/sbom.json', import.meta.url);
const MAX_BYTES = 64 * 1024 * 1024;

interface Sbom {
  bomFormat: string;
  specVersion: string;
  components: object[];
}

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'];
const text = execFileSync('npm', args, { encoding: 'utf8', maxBuffer: MAX_BYTES });
const { bomFormat, specVersion, components } = JSON.parse(text) as Sbom;
if (bomFormat !== 'CycloneDX' || components.length === 0) throw new Error('npm wrote no CycloneDX document.');
mkdirSync(new URL('.', FILE), { recursive: true });
writeFileSync(FILE, text);
console.log(`dist/sbom.json: CycloneDX ${specVersion}, ${components.length} packages`);

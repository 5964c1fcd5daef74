import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Checks the packages of dist/sbom.json against the advisories of the registry, and fails from severity high. */

interface Answer {
  vulnerabilities?: Record<string, { severity: string }>;
}

/** Some registries, such as mirrors, have no advisories and refuse the request: that is said, and it is no fault of the change. */
const NO_ANSWER = /audit endpoint returned an error|ENOAUDIT|ECONNREFUSED|ENOTFOUND|ETIMEDOUT/;
const SEVERE = ['high', 'critical'];

const sbom = new URL('../dist/sbom.json', import.meta.url);
const { components } = JSON.parse(readFileSync(sbom, 'utf8')) as { components: { name: string }[] };
const names = new Set(components.map(({ name }) => name));
const { stdout, stderr } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const vulnerabilities = vulnerabilitiesIn(stdout);

if (vulnerabilities) {
  const found = Object.entries(vulnerabilities).filter(([name]) => names.has(name));
  for (const [name, { severity }] of found) console.log(`${name}: ${severity}. \`npm audit\` says more.`);
  if (found.some(([, { severity }]) => SEVERE.includes(severity))) process.exit(1);
  console.log(`npm audit: ${names.size} packages, none has an advisory of severity high`);
} else if (NO_ANSWER.test(stderr)) {
  console.log('npm audit: the registry does not answer, so nothing was checked against known advisories');
} else {
  throw new Error(stderr || stdout);
}

/** @returns undefined if npm has printed something else, such as an error */
function vulnerabilitiesIn(printed: string): Answer['vulnerabilities'] {
  try {
    return (JSON.parse(printed) as Answer).vulnerabilities;
  } catch {
    return undefined;
  }
}

import { execFile } from 'node:child_process';
import { loadAll } from 'js-yaml';
import { findTool } from '../tools.ts';

export const CHART = new URL('../../../../deploy/helm/darkroom', import.meta.url).pathname;

/** An object of Kubernetes, as far as the tests look into it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has its own
  [field: string]: any;
}

/** What a command writes. @throws Error with what it wrote, when it fails */
export async function run(tool: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(findTool(tool) ?? tool, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      // Its own message repeats all arguments.
      if (error) reject(new Error(`${tool} ${args[0]}\n${stdout}${stderr}`));
      else resolve(stdout);
    });
  });
}

/** The objects that an install with these values makes. */
export async function render(...args: string[]): Promise<Manifest[]> {
  const text = await run('helm', 'template', 'live', CHART, ...args);
  const objects = loadAll(text) as (Manifest | null)[];
  return objects.filter((object) => object !== null);
}

export function find(manifests: Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects are ${kind} ${name}`);
  return found[0]!;
}

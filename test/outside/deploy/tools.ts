import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where administrators' programs are that the PATH of a user may lack. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/bin'];

/** The path of a program, or null. */
export function findTool(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(':'), ...MORE_FOLDERS];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** `describe` where all tools are on this machine; elsewhere it writes which are missing, and skips. */
export function describeWith(tools: Record<string, string>, name: string, tests: () => void): void {
  const missing = Object.keys(tools).filter((tool) => findTool(tool) === null);
  for (const tool of missing) say(`SKIPPED ${name}: ${tool} is not on this machine (${tools[tool]})`);
  (missing.length === 0 ? describe : describe.skip)(name, tests);
}

/** Past Jest, which shows what tests write only when they fail. */
export function say(line: string): void {
  process.stderr.write(`\n*** ${line}\n`);
}

import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What `node scripts/client-tools.ts` installs. */
export const TOOLS = process.env.DARKROOM_TEST_TOOLS ?? join(homedir(), '.cache/darkroom-client-tools');

export const toolOf = (path: string): string => join(TOOLS, path);

/** A program of PyPI, installed at its first use. Without PyPI it is missing, and what needs it is skipped. */
export function fromPyPi(python: string, name: string, version: string): string {
  const folder = `${name}-${version}`;
  const program = toolOf(`${folder}/bin/${name}`);
  const install = ['-m', 'pip', 'install', '--quiet', '--retries', '1', `${name}==${version}`];
  try {
    if (!existsSync(program)) {
      execFileSync(python, ['-m', 'venv', toolOf(folder)], { stdio: 'pipe' });
      execFileSync(toolOf(`${folder}/bin/python`), install, { stdio: 'pipe' });
    }
  } catch (error) {
    process.stderr.write(`${name} could not be installed: ${String(error).split('\n', 2).join(' ')}\n`);
  }
  return program;
}

/** A test that needs programs, by their absolute paths or names. Without them it is skipped, and that is said. */
export function itWith(programs: readonly string[], name: string, test: () => Promise<void>): void {
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length === 0) return void it(name, test);
  process.stderr.write(`SKIPPED: ${name}: ${missing.join(', ')} not found. \`npm run check:clients\` installs it.\n`);
  it.skip(name, test);
}

function isThere(program: string): boolean {
  if (program.includes('/')) return existsSync(program);
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** @throws with what it printed */
export async function execute(program: string, args: string[], cwd: string, env: object = {}): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

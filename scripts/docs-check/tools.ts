import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROBE_MS = 60_000;

/**
 * Commands that show whether a tool works. An installed program may be of no use: `docker` without its engine, `pip`
 * without a registry.
 */
const PROBES: Record<string, string> = {
  docker: 'docker info',
  kubectl: 'kubectl cluster-info',
  pypi: 'python3 -c "import venv, ensurepip" && python3 -m pip download --quiet --no-deps --dest "$(mktemp -d)" standardwebhooks',
};

const known = new Map<string, Promise<boolean>>();

/** @param names separated by spaces @returns the tools of these names that this machine lacks */
export async function missingTools(names: string): Promise<string[]> {
  const tools = names.split(' ').filter((name) => name !== '');
  const there = await Promise.all(tools.map(isThere));
  return tools.filter((_, at) => !there[at]);
}

function isThere(name: string): Promise<boolean> {
  const found =
    known.get(name) ??
    run('bash', ['-c', PROBES[name] ?? `command -v ${name}`], { timeout: PROBE_MS }).then(
      () => true,
      () => false,
    );
  known.set(name, found);
  return found;
}

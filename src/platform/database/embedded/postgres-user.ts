import { execFile, spawnSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** The user that runs the embedded PostgreSQL, which refuses to run as root. */
export interface PostgresUser {
  /**
   * Makes the user of PostgreSQL the owner of a file or folder. Does nothing when this process already runs as this
   * user.
   */
  own(path: string): void;
  /**
   * Runs a program as the user of PostgreSQL until it exits.
   * @throws Error with the last lines that the program wrote, if the program fails
   */
  run(program: string, args: string[], options?: { input?: string; timeoutMs?: number }): Promise<void>;
}

interface Prefix {
  /** Program and arguments before the command. */
  words: string[];
  uid?: number;
  gid?: number;
}

/** Environment of PostgreSQL's programs. The operator's PG… variables must not affect the embedded server. */
const environment = () => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  // By default glibc returns the memory of each statement to the system, and requests memory for the next one. This was
  // 4 % of all work of PostgreSQL.
  MALLOC_TRIM_THRESHOLD_: String(2 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  ...(process.platform === 'win32' && { SystemRoot: process.env.SystemRoot }),
});

/**
 * Chooses the user of this process. If this process is root, chooses the owner of the cluster, or else the user
 * `postgres`.
 * @param dataDir must exist, and the user must be able to reach it
 * @param cluster if it exists, its owner runs it, so that root and an ordinary user can start it in turn
 * @throws Error that suggests a remedy when the user cannot be created or cannot reach the folders
 */
export function choosePostgresUser(dataDir: string, cluster: string, binaries: PostgresBinaries): PostgresUser {
  const me = process.getuid?.();
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (me !== 0) {
    if (owner && me !== undefined && owner.uid !== me) {
      throw new Error(
        `${cluster} belongs to the user with id ${owner.uid}, but this process runs as ${me}. ` +
          'Start as that user or as root, choose another DATA_DIR, or set DATABASE_URL.',
      );
    }
    return { own: () => undefined, run: (program, args, options) => run({ words: [] }, program, args, options) };
  }

  const { uid, gid } = owner && owner.uid !== 0 ? owner : systemUser();
  const prefix = reachingPrefix(uid, gid, dataDir, binaries);
  return {
    own: (path) => chownSync(path, uid, gid),
    run: (program, args, options) => run(prefix, program, args, options),
  };
}

/** The user `postgres`, created when the machine has none. */
function systemUser(): { uid: number; gid: number } {
  const existing = lookUpUser();
  if (existing) return existing;
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const made = spawnSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], {
    env,
    encoding: 'utf8',
  });
  const created = lookUpUser();
  if (created) return created;
  throw new Error(
    'PostgreSQL refuses to run as root, and the user "postgres" could not be created ' +
      `(useradd: ${made.error?.message ?? made.stderr.trim()}). ` +
      'Create a system user of that name, start Darkroom as an ordinary user, or set DATABASE_URL.',
  );
}

function lookUpUser(): { uid: number; gid: number } | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : Number.NaN;
  });
  return uid! > 0 && gid! >= 0 ? { uid: uid!, gid: gid! } : null;
}

/**
 * Finds the least privilege with which the user reaches both the programs and the data. A path that is open to all,
 * such as a clone in /srv, needs no capability. A closed path, such as a clone in /root (mode 0700), needs a capability
 * that bypasses folder permissions. The candidates are tried in turn, not computed: containers drop capabilities, and
 * access lists and mount options matter too.
 */
function reachingPrefix(uid: number, gid: number, dataDir: string, binaries: PostgresBinaries): Prefix {
  const candidates: Prefix[] = [
    { words: [], uid, gid },
    ...['dac_read_search', 'dac_override'].map((capability) => ({
      words: [
        'setpriv',
        `--reuid=${uid}`,
        `--regid=${gid}`,
        '--clear-groups',
        // Without this bit access(2) would ignore the capability. PostgreSQL finds its files with access(2).
        '--securebits=+no_setuid_fixup',
        `--inh-caps=-all,+${capability}`,
        `--ambient-caps=-all,+${capability}`,
        '--',
      ],
    })),
  ];
  // --show creates nothing, but checks for every program and file that initdb needs.
  const probe = ['sh', '-c', 'cd "$1" && "$2" --version && "$3" --show -D "$1/postgres.new"', 'probe', dataDir];
  for (const candidate of candidates) {
    const [program, ...args] = [...candidate.words, ...probe, binaries.postgres, binaries.initdb];
    const { uid, gid } = candidate;
    const tried = spawnSync(program!, args, {
      uid,
      gid,
      cwd: '/',
      env: environment(),
      stdio: 'ignore',
      timeout: 10_000,
    });
    if (tried.status === 0) return candidate;
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and the user with id ${uid} cannot reach ${dataDir} or ${binaries.postgres}. ` +
      'Put DATA_DIR and the checkout where other users can reach them (not below /root), start Darkroom as an ordinary ' +
      'user, or set DATABASE_URL to a PostgreSQL of your own.',
  );
}

function run(
  prefix: Prefix,
  program: string,
  args: string[],
  { input, timeoutMs = 60_000 }: { input?: string; timeoutMs?: number } = {},
): Promise<void> {
  const [first, ...rest] = [...prefix.words, program, ...args];
  const { uid, gid } = prefix;
  return new Promise((resolve, reject) => {
    const child = execFile(
      first!,
      rest,
      { uid, gid, cwd: '/', env: environment(), timeout: timeoutMs },
      (error, out, err) => {
        if (!error) return resolve();
        const lastLines = `${out}\n${err}`.trim().split('\n').slice(-8).join('\n');
        reject(new Error(`${program} failed: ${lastLines || error.message}`, { cause: error }));
      },
    );
    // This error means that the program exited before it read all input. The exit code of the program is reported
    // instead.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

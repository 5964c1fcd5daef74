import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The slowest is `npm ci` on a busy machine. */
const COMMAND_MS = 600_000;
/** README.md installs and builds before it starts. */
const UNTIL_MS = 900_000;
const LOOK_MS = 100;
/** The service finishes what is running, then stops its database. */
const STOP_MS = 30_000;
/** The variables of a block, without those that bash keeps about itself. */
const SAVED = "{ export -p | grep -vE '^declare -x (PWD|OLDPWD|SHLVL|_)='; }";

/** How a command ended, and what it printed to stdout and stderr. */
export interface Outcome {
  ok: boolean;
  output: string;
}

export interface Ongoing extends Outcome {
  /** What it has printed by now. */
  printed(): string;
}

interface Going {
  child: ChildProcess;
  log: string;
}

/** The terminal of a reader of one page: what a block exports, the next one has. */
export class Session {
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;
  private readonly going: Going[] = [];
  private count = 0;

  /** @param folder where logs and variables are kept */
  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.env = env;
    writeFileSync(this.variables, '');
  }

  /** Runs a block of a shell to its end. What it starts with `&` goes on until `close`. */
  async run(script: string, cwd: string): Promise<Outcome> {
    const { child, log } = this.start(script, cwd);
    const timer = setTimeout(() => end(child, 'SIGKILL'), COMMAND_MS);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearTimeout(timer);
    return { ok: code === 0, output: readFileSync(log, 'utf8') };
  }

  /** Starts a block that does not end, and waits until it prints this. */
  async runUntil(script: string, cwd: string, text: string): Promise<Ongoing> {
    const { child, log } = this.start(script, cwd);
    const printed = () => readFileSync(log, 'utf8');
    for (const since = Date.now(); Date.now() - since < UNTIL_MS; await sleep(LOOK_MS)) {
      if (printed().includes(text)) return { ok: true, output: printed(), printed };
      if (child.exitCode !== null || child.signalCode !== null) break;
    }
    return { ok: false, output: `${printed()}\nIt never printed "${text}".`, printed };
  }

  /** What the blocks that go on have printed. */
  get output(): string {
    return this.going.map(({ log }) => readFileSync(log, 'utf8')).join('');
  }

  /** Ends what goes on, with all that it has started. */
  async close(): Promise<void> {
    const children = this.going.map(({ child }) => child);
    for (const child of children) end(child, 'SIGTERM');
    for (const since = Date.now(); children.some(isThere) && Date.now() - since < STOP_MS;) await sleep(LOOK_MS);
    for (const child of children) end(child, 'SIGKILL');
  }

  private get variables(): string {
    return join(this.folder, 'variables.sh');
  }

  private start(script: string, cwd: string): Going {
    const log = join(this.folder, `${(this.count += 1)}.log`);
    const file = openSync(log, 'w');
    // `set -a` exports what a block sets, because its next command may stand in another block.
    const whole = `set -aeo pipefail\nsource ${this.variables}\n${script}\n${SAVED} > ${this.variables}\n`;
    const child = spawn('bash', ['-c', whole], {
      cwd,
      env: this.env,
      stdio: ['ignore', file, file],
      detached: true, // a group of its own, which can be ended as a whole
    });
    closeSync(file);
    this.going.push({ child, log });
    return { child, log };
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // The group has ended.
  }
}

function isThere(child: ChildProcess): boolean {
  try {
    return process.kill(-child.pid!, 0);
  } catch {
    return false;
  }
}

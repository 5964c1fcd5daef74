import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The limit for a command. The slowest is `npm ci` on a busy machine. */
const COMMAND_MS = 600_000;
/** The limit until a block prints the text of `until`. README.md installs and builds first. */
const UNTIL_MS = 900_000;
const LOOK_MS = 100;
/** The limit for the end of the service, which finishes running tasks and then stops its database. */
const STOP_MS = 30_000;
/** Saves the variables of a block, without those that bash itself manages. */
const SAVED = "{ export -p | grep -vE '^declare -x (PWD|OLDPWD|SHLVL|_)='; }";

/** Whether a command succeeded, and what it printed to stdout and stderr. */
export interface Outcome {
  ok: boolean;
  output: string;
}

export interface Ongoing extends Outcome {
  printed(): string;
}

interface Going {
  child: ChildProcess;
  log: string;
}

/** The terminal of the reader of a page. A block has the variables that earlier blocks exported. */
export class Session {
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;
  private readonly going: Going[] = [];
  private count = 0;

  /** @param folder the folder for logs and variables */
  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.env = env;
    writeFileSync(this.variables, '');
  }

  /** Runs a shell block to its end. A command that it starts with `&` runs until `close`. */
  async run(script: string, cwd: string): Promise<Outcome> {
    const { child, log } = this.start(script, cwd);
    const timer = setTimeout(() => end(child, 'SIGKILL'), COMMAND_MS);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearTimeout(timer);
    return { ok: code === 0, output: readFileSync(log, 'utf8') };
  }

  /** Starts a block that does not end, and waits until it has printed the text. */
  async runUntil(script: string, cwd: string, text: string): Promise<Ongoing> {
    const { child, log } = this.start(script, cwd);
    const printed = () => readFileSync(log, 'utf8');
    for (const since = Date.now(); Date.now() - since < UNTIL_MS; await sleep(LOOK_MS)) {
      if (printed().includes(text)) return { ok: true, output: printed(), printed };
      if (child.exitCode !== null || child.signalCode !== null) break;
    }
    return { ok: false, output: `${printed()}\nIt never printed "${text}".`, printed };
  }

  /** The output of the blocks that still run. */
  get output(): string {
    return this.going.map(({ log }) => readFileSync(log, 'utf8')).join('');
  }

  /** Ends the blocks that still run, with all processes that they have started. */
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
    // `set -a` exports all variables of a block, because the command that uses them may be in another block.
    const whole = `set -aeo pipefail\nsource ${this.variables}\n${script}\n${SAVED} > ${this.variables}\n`;
    const child = spawn('bash', ['-c', whole], {
      cwd,
      env: this.env,
      stdio: ['ignore', file, file],
      detached: true, // a process group of its own, which can be ended as a whole
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
    // The process group has already ended.
  }
}

function isThere(child: ChildProcess): boolean {
  try {
    return process.kill(-child.pid!, 0);
  } catch {
    return false;
  }
}

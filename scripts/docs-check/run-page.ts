import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Block, blocksOf } from './blocks.ts';
import { type Real, withReal } from './made-up.ts';
import { isProgram, listOf, missingOf, writeProgram } from './programs.ts';
import { runQueries } from './queries.ts';
import { type Outcome, Session } from './session.ts';
import { missingTools } from './tools.ts';

const SHELLS = ['sh', 'bash'];
/** How long a block that runs beside the page may take to print its texts. */
const PRINTS_MS = 60_000;
const PRINTED_KEY = /API key +(dr_\w+)/;

export type Report = (block: Block, verdict: 'ok' | 'FAILED' | 'LEFT OUT', said?: string) => void;

/** What the blocks of a page run with. */
export interface Reader {
  real: Real;
  /** The folder of this page, for logs and for the reader's project. */
  folder: string;
  env: NodeJS.ProcessEnv;
  report: Report;
}

/** Runs all blocks of a page, in order. */
export class Page {
  private readonly reader: Reader;
  private readonly app: string;
  private readonly session: Session;
  private readonly blocks: Block[];
  private readonly goingOn: { block: Block; printed: () => string }[] = [];

  constructor(page: string, reader: Reader) {
    this.reader = reader;
    this.app = join(reader.folder, 'app');
    mkdirSync(this.app, { recursive: true });
    writeFileSync(join(this.app, 'package.json'), '{ "type": "module", "private": true }\n');
    this.session = new Session(reader.folder, reader.env);
    this.blocks = blocksOf(reader.real.clone, page);
  }

  async run(): Promise<void> {
    for (const block of this.blocks.filter((one) => !isProgram(one) || one.marks.file)) await this.step(block);
    const programs = this.blocks.filter((block) => isProgram(block) && !block.marks.file);
    for (const language of new Set(programs.map((block) => block.language))) {
      await this.runProgram(programs.filter((block) => block.language === language));
    }
    for (const { block, printed } of this.goingOn) await this.waitForPrints(block, printed);
  }

  close(): Promise<void> {
    return this.session.close();
  }

  /** The API key that the service of this page printed at its first start. */
  get printedKey(): string | undefined {
    return this.session.output.match(PRINTED_KEY)?.[1];
  }

  private typed(text: string): Promise<string> {
    return withReal(text, { ...this.reader.real, key: this.printedKey ?? this.reader.real.key });
  }

  private async step(block: Block): Promise<void> {
    const { language, marks } = block;
    const isRun = marks.file !== undefined || SHELLS.includes(language) || ['console', 'graphql'].includes(language);
    if (!isRun || (await this.isLeftOut(block))) return;
    if (marks.file) writeFileSync(join(this.app, marks.file), await this.typed(block.text));
    else if (language === 'console') await this.judge(block, () => this.runTranscript(block));
    else if (language === 'graphql') await this.judge(block, () => runQueries(block.text, this.reader.real));
    else await this.judge(block, () => this.runShell(block));
  }

  /**
   * Runs a command after `$ ` and compares its whole output with the block. The command may fail, because the page may
   * show a failure.
   */
  private async runTranscript({ text }: Block): Promise<Outcome> {
    const [command = '', ...expected] = (await this.typed(text)).split('\n');
    const { output } = await this.session.run(command.replace(/^\$ /, ''), this.reader.real.clone);
    return { ok: output.trim() === expected.join('\n').trim(), output };
  }

  private async runShell(block: Block): Promise<Outcome> {
    const { marks } = block;
    const script = await this.typed(block.text);
    const cwd = marks.in === 'app' ? this.app : this.reader.real.clone;
    if (marks.until) {
      const { printed, ...outcome } = await this.session.runUntil(script, cwd, marks.until);
      if (marks.prints && outcome.ok) this.goingOn.push({ block, printed });
      return outcome;
    }
    return this.complete(await this.session.run(script, cwd), marks);
  }

  private async runProgram(all: Block[]): Promise<void> {
    const blocks: Block[] = [];
    for (const block of all) if (!(await this.isLeftOut(block))) blocks.push(block);
    if (blocks.length === 0) return;
    const texts = await Promise.all(blocks.map(({ text }) => this.typed(text)));
    const program = writeProgram(
      blocks.map((block, at) => ({ ...block, text: texts[at]! })),
      this.app,
      this.reader.real.clone,
    );
    await this.judge(program.first, async () => {
      const outcome = await this.session.run(program.command, this.app);
      const missing = outcome.ok ? missingOf(program, outcome.output, this.app) : [];
      return { ok: outcome.ok && missing.length === 0, output: [outcome.output, ...missing].join('\n') };
    });
  }

  private complete(outcome: Outcome, { prints, saves }: Block['marks']): Outcome {
    const said = { prints: listOf(prints, ' | '), saves: listOf(saves, ' ') };
    const missing = outcome.ok ? missingOf(said, outcome.output, this.reader.real.clone) : [];
    return { ok: outcome.ok && missing.length === 0, output: [outcome.output, ...missing].join('\n') };
  }

  private async waitForPrints(block: Block, printed: () => string): Promise<void> {
    const texts = listOf(block.marks.prints, ' | ');
    const isDone = () => texts.every((text) => printed().includes(text));
    for (const since = Date.now(); !isDone() && Date.now() - since < PRINTS_MS;) await sleep(100);
    if (!isDone()) this.reader.report(block, 'FAILED', `${printed()}\nIt does not print ${texts.join(', ')}.`);
  }

  private async judge(block: Block, run: () => Promise<Outcome>): Promise<void> {
    const outcome = await run().catch((error: unknown) => ({ ok: false, output: String(error) }));
    this.reader.report(block, outcome.ok ? 'ok' : 'FAILED', outcome.output);
  }

  private async isLeftOut(block: Block): Promise<boolean> {
    const missing = await missingTools(block.marks.needs ?? '');
    const reason = block.marks.skip ?? (missing.length > 0 ? `${missing.join(', ')}: not usable here` : null);
    if (reason !== null) this.reader.report(block, 'LEFT OUT', reason);
    return reason !== null;
  }
}

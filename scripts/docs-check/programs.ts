import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block } from './blocks.ts';

/** How the blocks of one language on one page become a program, and how the program is run in the reader's project. */
interface Kind {
  file: string;
  /** @param clone the folder with the compiler and the types of Node */
  command(clone: string): string;
}

/**
 * Compiles strictly, as a careful reader's project does. The types of Node come from the clone, those of libraries from
 * the project.
 */
const tsc = (clone: string) =>
  `node ${clone}/node_modules/typescript/bin/tsc --strict --target es2023 --module nodenext --skipLibCheck ` +
  `--typeRoots ${clone}/node_modules/@types --types node --rewriteRelativeImportExtensions --outDir built guide.ts`;

const KINDS: Record<string, Kind> = {
  ts: { file: 'guide.ts', command: (clone) => `${tsc(clone)} && node built/guide.js` },
  js: { file: 'guide.mjs', command: () => 'node guide.mjs' },
  python: { file: 'guide.py', command: () => 'python guide.py' },
};

export interface Program {
  /** The first block of the program. Its position names the program in the output. */
  first: Block;
  command: string;
  prints: string[];
  saves: string[];
}

export const isProgram = ({ language }: Block) => language in KINDS;

/**
 * Writes the blocks of one language as one program, in their order, because a block uses what an earlier block imports.
 */
export function writeProgram(blocks: Block[], folder: string, clone: string): Program {
  const [first] = blocks as [Block];
  const { file, command } = KINDS[first.language]!;
  writeFileSync(join(folder, file), blocks.map(({ text }) => text).join('\n'));
  return {
    first,
    command: command(clone),
    prints: blocks.flatMap(({ marks }) => listOf(marks.prints, ' | ')),
    saves: blocks.flatMap(({ marks }) => listOf(marks.saves, ' ')),
  };
}

export const listOf = (mark: string | undefined, separator: string) => mark?.split(separator) ?? [];

/** What the page promises, but the output or the folder lacks. */
export function missingOf(
  { prints, saves }: Pick<Program, 'prints' | 'saves'>,
  output: string,
  folder: string,
): string[] {
  const isSaved = (name: string) => existsSync(join(folder, name)) && statSync(join(folder, name)).size > 0;
  return [
    ...prints.filter((text) => !output.includes(text)).map((text) => `It does not print "${text}".`),
    ...saves.filter((name) => !isSaved(name)).map((name) => `It does not save ${name}.`),
  ];
}

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The marks of a block, written after the language: ```sh in=app needs="docker jq" prints="succeeded". Readers do not
 * see them.
 */
export interface Marks {
  /** The block is not run. The reason is printed. */
  skip?: string;
  /** Tools, separated by spaces. If one is missing, the block is not run, and the output says so. */
  needs?: string;
  /** `app`: the block runs in the folder of a reader's own project, not in the clone. */
  in?: string;
  /** The block is saved under this name in that folder. A later block runs it. */
  file?: string;
  /** The block runs beside the next blocks, which begin once it has printed this text. */
  until?: string;
  /** Texts that the block prints, separated by ` | `. A block with `until` may print them until the page ends. */
  prints?: string;
  /** Files that the block makes, separated by spaces. */
  saves?: string;
}

export interface Block {
  page: string;
  /** The line of its first fence, from 1. */
  line: number;
  language: string;
  marks: Marks;
  text: string;
}

const NAMES: readonly string[] = ['skip', 'needs', 'in', 'file', 'until', 'prints', 'saves'];
const FENCE = /^( *)```(\S+)([^\n]*)\n([\s\S]*?)^\1```$/gm;
const MARK = /([\w-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g;

/** The pages. README.md is first, because it starts the service that all other pages use. */
export function pagesOf(root: string): string[] {
  return ['README.md', ...globSync('docs/guides/**/*.md', { cwd: root }).sort()];
}

/** All fenced blocks of a page that name a language. */
export function blocksOf(root: string, page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(FENCE)].map(({ index, 1: indent = '', 2: language = '', 3: info = '', 4: body = '' }) => {
    const line = text.slice(0, index).split('\n').length;
    return { page, line, language, marks: marksOf(info, `${page}:${line}`), text: withoutIndent(body, indent) };
  });
}

function withoutIndent(body: string, indent: string): string {
  return body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

function marksOf(info: string, at: string): Marks {
  const marks: Record<string, string> = {};
  for (const [, name = '', ...values] of info.matchAll(MARK)) {
    if (!NAMES.includes(name)) throw new Error(`${at}: there is no mark "${name}"; there are ${NAMES.join(', ')}.`);
    marks[name] = values.find((value) => value !== undefined) ?? '';
  }
  if (info.replaceAll(MARK, '').trim() !== '') throw new Error(`${at}: "${info.trim()}" is no list of marks.`);
  return marks;
}

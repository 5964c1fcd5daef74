import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { darkroomProgram } from '../../src/cli/program.ts';

const root = new URL('../../', import.meta.url).pathname;
const commands = darkroomProgram().commands.map((command) => command.name());
/** A command that is written otherwise than `npx darkroom …`, which works in a clone. */
const OTHER = new RegExp(
  `npm run (?:-s )?darkroom\\b|(?<!npx )(?<![\\w/.])darkroom (?:${commands.join('|')}|\\$)(?![\\w-])`,
);
/** The former name of a rule of a bucket, and the typed words that the shell fish completes. */
const NO_COMMAND = /darkroom files of tasks|string match -q/;
const isComment = (line: string) => /^\s*(?:\/\/|\/?\*)/.test(line);

const files = globSync(['*.md', '.env.example', 'docs/**/*.md', 'src/**/*.ts', 'packages/dashboard/src/**/*.tsx'], {
  cwd: root,
}).filter((file) => !file.startsWith('docs/decisions/') && !file.endsWith('.spec.ts')); // decisions are history

it('of a command is the same in all documents and outputs', () => {
  const found = files.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    const isCode = /\.tsx?$/.test(file);
    return lines.flatMap((line, at) =>
      OTHER.test(line) && !NO_COMMAND.test(line) && !(isCode && isComment(line))
        ? [`${file}:${at + 1}: ${line.trim()}`]
        : [],
    );
  });
  expect(found).toEqual([]);
});

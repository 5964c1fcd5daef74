import type { Command } from 'commander';
import { commandsOf, darkroomProgram } from './program.ts';

/** Their output has a form of its own: a log, a protocol, a script. */
const WITHOUT_JSON = ['up', 'mcp', 'completion'];

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}`.trim() : '';

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

const commands = commandsOf(darkroomProgram()).filter((command) => command.parent && command.commands.length === 0);

describe.each(commands.map((command) => [nameOf(command), command] as const))('darkroom %s', (name, command) => {
  it('has an example of itself in its help, with options that it knows', () => {
    const [, example = ''] = /Example: (.*)/.exec(helpOf(command)) ?? [];
    expect(example).toMatch(new RegExp(`npx darkroom ${name}(?: |\\)|$)`));
    const named = [...example.matchAll(/ (--[\w-]+)/g)].map(([, option]) => option);
    const known = command.options.flatMap(({ long }) => (long ? [long] : []));
    expect(named.filter((option) => !known.includes(option!))).toEqual([]);
  });

  it('describes itself, and prints JSON when asked', () => {
    expect(command.description()).toMatch(/\.$/);
    expect(command.options.some(({ long }) => long === '--json')).toBe(!WITHOUT_JSON.includes(name));
  });
});

it('gives an option behind a subcommand to the subcommand', async () => {
  const { models } = Object.fromEntries(darkroomProgram().commands.map((command) => [command.name(), command]));
  const check = models!.commands.find((command) => command.name() === 'check')!;
  check.action((_paths, options: object) => expect(options).toEqual({ json: true }));
  expect.assertions(1);
  await models!.parent!.parseAsync(['models', 'check', 'a.yaml', '--json'], { from: 'user' });
});

describe('the completion', () => {
  it('knows every command and option', () => {
    let script = '';
    const print = console.log;
    console.log = (text: string) => (script += text);
    try {
      darkroomProgram().parse(['completion', 'bash'], { from: 'user' });
    } finally {
      console.log = print;
    }
    for (const command of commands) {
      const [, words = ''] = new RegExp(`^${nameOf(command)}\\|(.*)$`, 'm').exec(script) ?? [];
      const missing = command.options.map(({ long }) => long!).filter((long) => !words.split(' ').includes(long));
      expect([nameOf(command), missing]).toEqual([nameOf(command), []]);
    }
  });
});

import { Argument, Command } from 'commander';

const SHELLS = {
  bash: (words: string) => `complete -F _darkroom darkroom
_darkroom() {
  local path="\${COMP_WORDS[*]:1:COMP_CWORD-1}" line
  while IFS='|' read -r command rest; do
    if [ "$command" = "$path" ]; then line="$rest"; fi
  done <<'WORDS'
${words}
WORDS
  COMPREPLY=($(compgen -W "$line" -- "\${COMP_WORDS[COMP_CWORD]}"))
}`,
  zsh: (words: string) => `autoload -Uz bashcompinit && bashcompinit\n${SHELLS.bash(words)}`,
  fish: (words: string) =>
    words
      .split('\n')
      .map((line) => line.split('|') as [string, string])
      .map(([path, rest]) => {
        const when = path === '' ? '__fish_use_subcommand' : `string match -q -- 'darkroom ${path}*' (commandline -cp)`;
        return `complete -c darkroom -f -n "${when}" -a "${rest}"`;
      })
      .join('\n'),
};

/** `darkroom completion bash`: prints a script made from the commands themselves, so it lacks no command. */
export function completionCommand(program: () => Command): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .addHelpText('after', '\nExample: source <(npx darkroom completion bash)')
    .action((shell: keyof typeof SHELLS) => console.log(SHELLS[shell](wordsOf(program()).join('\n'))));
}

/** A line for each command, with the words that may follow it: `tasks list|--status --kind …`. */
function wordsOf(command: Command, path: readonly string[] = []): string[] {
  const options = command.options.map(({ long, short }) => long ?? short);
  const words = [...command.commands.map((each) => each.name()), ...options, '--help'];
  return [
    `${path.join(' ')}|${words.join(' ')}`,
    ...command.commands.flatMap((each) => wordsOf(each, [...path, each.name()])),
  ];
}

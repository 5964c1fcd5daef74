import { execFileSync } from 'node:child_process';
import { snippet, WAITS } from './snippets.ts';

const options = { baseUrl: 'http://127.0.0.1:3000', wait: 'wait' as const };
const nasty = { model: 'gpt-image-2', prompt: `it's a "cat" \\ $HOME \`x\` """ \n😀`, n: 2 };

/** What the shell passes on after `-d`. */
function bodyOf(command: string): unknown {
  const args = execFileSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\0'`)])
    .toString()
    .split('\0');
  return JSON.parse(args[args.indexOf('-d') + 1] ?? '');
}

describe('the snippets', () => {
  it('make the same request in the shell, whatever the prompt holds', () => {
    expect(bodyOf(snippet('curl', nasty, options))).toEqual(nasty);
    expect(bodyOf(snippet('graphql', nasty, options))).toMatchObject({ variables: { input: nasty } });
  });

  it('make the same request in Python', () => {
    const code = snippet('python', nasty, options);
    const literal = /json\.loads\((?<literal>r"""[\s\S]*?""")\)/.exec(code)?.groups?.['literal'] ?? '';
    const out = execFileSync('python3', ['-c', `import json; print(json.dumps(json.loads(${literal})))`]).toString();
    expect(JSON.parse(out)).toEqual(nasty);
  });

  it('never hold a key', () => {
    for (const language of ['curl', 'typescript', 'python', 'graphql'] as const) {
      for (const { value: wait } of WAITS[language]) {
        expect(snippet(language, nasty, { ...options, wait })).toContain('DARKROOM_API_KEY');
      }
    }
  });
});

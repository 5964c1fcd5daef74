import { withoutPrompt } from './without-prompt.ts';

const prompt = 'A "lighthouse"\nat dusk';

it.each([
  [`Refused: ${prompt}!`, 'Refused: [prompt]!'],
  [`body: {"prompt":${JSON.stringify(prompt)}}`, 'body: {"prompt":"[prompt]"}'],
  [`Refused: ${prompt.slice(0, 14)}`, 'Refused: [prompt]'],
  ['Refused: A "ligh', 'Refused: A "ligh'],
  ['quota exceeded', 'quota exceeded'],
])('removes the prompt from %j', (message, left) => {
  expect(withoutPrompt({ provider: 'x', status: 400, message }, prompt)).toEqual({
    provider: 'x',
    status: 400,
    message: left,
  });
});

it('keeps causes without a message, and messages with a short prompt', () => {
  expect(withoutPrompt({ code: 'x' }, prompt)).toEqual({ code: 'x' });
  expect(withoutPrompt(undefined, prompt)).toBeUndefined();
  expect(withoutPrompt({ message: 'at x' }, 'x')).toEqual({ message: 'at x' });
});

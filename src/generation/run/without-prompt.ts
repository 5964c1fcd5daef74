/** Shorter ones say nothing of anybody, and would leave holes in every message. */
const SHORTEST = 8;

/**
 * What an upstream says of a failure, for the operator's log: upstreams repeat the prompt, and prompts are not for logs.
 * Also finds it written as JSON, and cut off at the end of the text.
 */
export function withoutPrompt(cause: unknown, prompt: unknown): unknown {
  if (
    typeof cause !== 'object' ||
    cause === null ||
    cause instanceof Error ||
    typeof prompt !== 'string' ||
    prompt.length < SHORTEST
  )
    return cause;
  const { message } = cause as { message?: unknown };
  if (typeof message !== 'string') return cause;
  const spellings = [prompt, JSON.stringify(prompt).slice(1, -1)];
  return { ...cause, message: spellings.reduce(without, message) };
}

function without(text: string, prompt: string): string {
  const rest = text.replaceAll(prompt, '[prompt]');
  for (let length = Math.min(prompt.length, rest.length); length >= SHORTEST; length--) {
    if (rest.endsWith(prompt.slice(0, length))) return `${rest.slice(0, -length)}[prompt]`;
  }
  return rest;
}

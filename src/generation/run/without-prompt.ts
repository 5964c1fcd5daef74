/** Shorter prompts identify nothing, and replacing them would garble every message. */
const MIN_LENGTH = 8;

/**
 * Removes the prompt from an upstream's error before it is logged. Upstreams repeat the prompt in their messages, and
 * logs must not contain prompts. Also finds the prompt escaped as JSON, and cut off at the end of the message.
 */
export function withoutPrompt(cause: unknown, prompt: unknown): unknown {
  if (
    typeof cause !== 'object' ||
    cause === null ||
    cause instanceof Error ||
    typeof prompt !== 'string' ||
    prompt.length < MIN_LENGTH
  )
    return cause;
  const { message } = cause as { message?: unknown };
  if (typeof message !== 'string') return cause;
  const spellings = [prompt, JSON.stringify(prompt).slice(1, -1)];
  return { ...cause, message: spellings.reduce(without, message) };
}

function without(text: string, prompt: string): string {
  const rest = text.replaceAll(prompt, '[prompt]');
  for (let length = Math.min(prompt.length, rest.length); length >= MIN_LENGTH; length--) {
    if (rest.endsWith(prompt.slice(0, length))) return `${rest.slice(0, -length)}[prompt]`;
  }
  return rest;
}

/** A shorter prompt identifies nothing, and replacing it would garble the message. */
const MIN_LENGTH = 8;

/**
 * Removes the prompt from the message of an upstream's error before the error is logged. Upstreams may repeat the
 * prompt in their messages, and logs must not contain prompts. The prompt is found also if it is escaped as JSON, or
 * cut off at the end of the message. An `Error` stays as it is.
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

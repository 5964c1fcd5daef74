import { TASK_ERRORS, type TaskErrorCode } from '../../tasks/task-error.ts';

/** What a prompt asks of the sandbox itself, so that integrators can test their unhappy paths. */
export interface Directives {
  /** The prompt without its directives: what is painted and lettered. */
  text: string;
  /** Waited before anything else. */
  delaySeconds: number;
  /** Wait for cancel or deadline. */
  hang: boolean;
  fail: TaskErrorCode | null;
}

const MAX_DELAY_SECONDS = 3600;

// A directive is a word of its own; anything that only looks like one stays part of the prompt.
const DIRECTIVE = /(?<!\S)#(?:fail:(?<code>[a-z_]+)|delay:(?<seconds>\d+(?:\.\d+)?)|(?<hang>hang))(?!\S)/g;

/**
 * Reads `#fail:<task error code>`, `#delay:<seconds>` (fractions allowed, at most an hour) and `#hang` out of a prompt.
 * The first of a kind counts. A code that does not exist fails the task as `internal_error`: a misspelt test must not pass for a success.
 */
export function parseDirectives(prompt: string): Directives {
  const found = [...prompt.matchAll(DIRECTIVE)].map((match) => match.groups ?? {});
  const code = found.find((groups) => groups['code'])?.['code'];
  const seconds = Number(found.find((groups) => groups['seconds'])?.['seconds'] ?? 0);
  return {
    text: prompt.replace(DIRECTIVE, ' ').replace(/\s+/g, ' ').trim(),
    delaySeconds: Math.min(seconds, MAX_DELAY_SECONDS),
    hang: found.some((groups) => groups['hang']),
    fail: code === undefined ? null : isTaskErrorCode(code) ? code : 'internal_error',
  };
}

function isTaskErrorCode(code: string): code is TaskErrorCode {
  return Object.hasOwn(TASK_ERRORS, code);
}

import { TASK_ERRORS, type TaskErrorCode } from '../../tasks/record/task-error.ts';

/** Instructions in a prompt to the sandbox itself, so that integrators can test how they handle delays and failures. */
export interface Directives {
  /** The prompt without its directives: what is painted and written on the picture. */
  text: string;
  /** Waits before anything else. */
  delaySeconds: number;
  /** Waits until the task is cancelled or its deadline passes. */
  hang: boolean;
  /** Fails the task with this error code. */
  fail: TaskErrorCode | null;
}

const MAX_DELAY_SECONDS = 3600;

// A directive is a separate word. Anything else stays part of the prompt.
const DIRECTIVE = /(?<!\S)#(?:fail:(?<code>[a-z_]+)|delay:(?<seconds>\d+(?:\.\d+)?)|(?<hang>hang))(?!\S)/g;

/**
 * Reads `#fail:<task error code>`, `#delay:<seconds>` (fractions allowed, at most an hour) and `#hang` from a prompt.
 * Only the first of each kind counts. An unknown code fails the task with `internal_error`, so that a typo in a test is
 * not a success.
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

import type { Tokens } from '../../tasks/record/task-usage.ts';

/** @returns null unless the upstream reported whole numbers. The tokens of the request may be missing */
export function reportedTokens(input: unknown, output: unknown): Tokens | null {
  return isCount(output) ? { input: isCount(input) ? input : 0, output } : null;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

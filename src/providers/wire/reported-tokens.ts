import type { Tokens } from '../../tasks/record/task-usage.ts';

/** @returns null if the output tokens are no whole number from 0 on; missing input tokens count as 0 */
export function reportedTokens(input: unknown, output: unknown): Tokens | null {
  return isCount(output) ? { input: isCount(input) ? input : 0, output } : null;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

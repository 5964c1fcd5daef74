import { readFileSync } from 'node:fs';

/**
 * The most memory a process has held so far, by the kernel's own account.
 * @returns megabytes; null where there is no such account (it is Linux's) or no such process any more
 */
export const peakMb = (pid: number): number | null => megabytes('VmHWM', pid);

/** What it holds now, by the same account. */
export const residentMb = (pid: number): number | null => megabytes('VmRSS', pid);

function megabytes(entry: string, pid: number): number | null {
  try {
    const [, kb] = new RegExp(`^${entry}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? null : Math.round(Number(kb) / 1024);
  } catch {
    return null;
  }
}

import { readFileSync } from 'node:fs';

/**
 * The most memory a process has held so far, by the kernel's own account.
 * @returns megabytes; null where there is no such account (it is Linux's) or no such process any more
 */
export function peakMb(pid: number): number | null {
  try {
    const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? null : Math.round(Number(kb) / 1024);
  } catch {
    return null;
  }
}

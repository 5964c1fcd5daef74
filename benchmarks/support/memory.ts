import { readFileSync } from 'node:fs';
import { processTree } from './process-tree.ts';

/**
 * The peak memory of a process so far, from the kernel.
 * @returns megabytes; null if the process has ended, or on systems other than Linux
 */
export const peakMb = (pid: number): number | null => megabytes('VmHWM', pid, 'status');

/** The resident memory of a process now, from the same source. */
export const residentMb = (pid: number): number | null => megabytes('VmRSS', pid, 'status');

/** The PSS of a process now: each process counts its share of the pages that it shares. */
export const proportionalMb = (pid: number): number | null => megabytes('Pss', pid, 'smaps_rollup');

/** The PSS of processes with all their children. */
export const proportionalMbOfTree = (...pids: number[]): number =>
  processTree(...pids).reduce((sum, pid) => sum + (proportionalMb(pid) ?? 0), 0);

function megabytes(entry: string, pid: number, file: 'status' | 'smaps_rollup'): number | null {
  try {
    const [, kb] = new RegExp(`^${entry}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? [];
    return kb === undefined ? null : Math.round(Number(kb) / 1024);
  } catch {
    return null;
  }
}

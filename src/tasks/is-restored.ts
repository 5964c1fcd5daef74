import type { Config } from '../platform/config.ts';

/**
 * Whether a record was begun before the backup that was restored. Then what the service did for it since is unknown: a paid call may have
 * been made, and its end told.
 */
export const isRestored = ({ restoredFrom }: Pick<Config, 'restoredFrom'>, begunAt: Date): boolean =>
  restoredFrom !== null && begunAt <= restoredFrom;

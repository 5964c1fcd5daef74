import type { Config } from '../../platform/config/config.ts';

/**
 * Whether a record is from before the backup that was restored. What the service did for the record after the backup is
 * then unknown: it may have made a paid call, or reported the end.
 */
export const isRestored = ({ restoredFrom }: Pick<Config, 'restoredFrom'>, begunAt: Date): boolean =>
  restoredFrom !== null && begunAt <= restoredFrom;

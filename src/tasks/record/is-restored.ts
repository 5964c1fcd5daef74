import type { Config } from '../../platform/config/config.ts';

/**
 * Whether a record was begun before the backup that was restored. What the service did for it since is then unknown: it
 * may have made a paid call, or reported the end.
 */
export const isRestored = ({ restoredFrom }: Pick<Config, 'restoredFrom'>, begunAt: Date): boolean =>
  restoredFrom !== null && begunAt <= restoredFrom;

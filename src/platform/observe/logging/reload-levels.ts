import { Logger } from '@nestjs/common';
import { ConfigError, loadLogLevels } from '../../config/config.ts';
import type { OperatorLevels } from '../../config/log-levels.ts';
import { logLevels } from './logging.ts';

/**
 * Applies LOG_LEVEL and LOG_LEVELS of the environment. A wrong value changes nothing. Never throws, because a signal
 * calls it.
 * @param readEnvironment may throw, when the file `.env` cannot be read
 */
export function reloadLogLevels(readEnvironment: () => NodeJS.ProcessEnv): void {
  const logger = new Logger('process');
  try {
    logLevels.change(loadLogLevels(readEnvironment()));
    logCurrent(logger);
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [(error as Error).message];
    logger.warn({ event: 'log_levels.refused', faults });
  }
}

/** Applies the levels that an operator has set. They override those of the environment. null: none are set. */
export function overrideLogLevels(levels: OperatorLevels | null): void {
  logLevels.override(levels);
  logCurrent(new Logger('process'));
}

function logCurrent(logger: Logger): void {
  const { logLevel: log_level, logLevels: log_levels } = logLevels.current;
  logger.log({ event: 'log_levels.changed', log_level, log_levels });
}

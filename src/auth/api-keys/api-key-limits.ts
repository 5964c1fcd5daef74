import type { Config } from '../../platform/config.ts';
import type { CallerLimits } from '../caller.ts';

/** The limits set on the key itself. The configuration supplies those that are missing. 0 = no limit. */
export interface ApiKeyLimits {
  creates_per_minute?: number;
  reads_per_minute?: number;
  max_running?: number;
  max_queued?: number;
}

/** The limits of the key, and the configured defaults for the rest. */
export function limitsInForce(own: ApiKeyLimits, config: Config): CallerLimits {
  return {
    createsPerMinute: own.creates_per_minute ?? config.rateCreatePerMin,
    readsPerMinute: own.reads_per_minute ?? config.rateReadPerMin,
    maxRunning: own.max_running ?? config.maxRunningPerKey,
    maxQueued: own.max_queued ?? config.maxQueuedPerKey,
  };
}

import type { Config } from '../../platform/config/config.ts';

/** Seconds that an attempt may take beyond WEBHOOK_TIMEOUT_MS before its process counts as dead. */
const MARGIN_S = 5;

/** How long a process may hold a claimed attempt, in seconds. */
export const deliveryLeaseS = ({ webhookTimeoutMs }: Config): number => webhookTimeoutMs / 1000 + MARGIN_S;

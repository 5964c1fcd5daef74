import type { Config } from '../../platform/config/config.ts';

/** Seconds that an attempt may take beyond WEBHOOK_TIMEOUT_MS before its process counts as dead. */
const MARGIN_S = 5;

/** The lease of an attempt in seconds. */
export const deliveryLeaseS = ({ webhookTimeoutMs }: Config): number => webhookTimeoutMs / 1000 + MARGIN_S;

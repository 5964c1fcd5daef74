import { VERSION } from '../config/version.ts';

/** Identifies this service and the purpose of the call to the operator of the called server. */
export function userAgent(purpose: string): string {
  return `Darkroom/${VERSION} (+${purpose})`;
}

export const WEBHOOK_AGENT = userAgent('webhooks');

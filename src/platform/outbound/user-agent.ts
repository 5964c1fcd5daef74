import { VERSION } from '../config/version.ts';

/** Tells the operator of the called server which service calls, and for what purpose. */
export function userAgent(purpose: string): string {
  return `Darkroom/${VERSION} (+${purpose})`;
}

export const WEBHOOK_AGENT = userAgent('webhooks');

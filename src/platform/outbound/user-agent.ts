import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Identifies this service and the purpose of the call to the operator of the called server. */
export function userAgent(purpose: string): string {
  return `Darkroom/${version} (+${purpose})`;
}

const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as { version: string };

import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Tells the operator of the called server who we are and what for. */
export function userAgent(purpose: string): string {
  return `Darkroom/${version} (+${purpose})`;
}

const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as { version: string };

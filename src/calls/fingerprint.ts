import { hash } from 'node:crypto';
import { canonicalJson } from '../platform/schema/canonical-json.ts';

/**
 * Identifies a route and what a client sent to it. The order of the keys in the body does not matter.
 * @param files SHA-256 of the uploaded files in order, hex
 * @returns SHA-256 in hex
 */
export function fingerprintOf(path: string, body: unknown, files: readonly string[] = []): string {
  return hash('sha256', canonicalJson([path, body, files]), 'hex');
}

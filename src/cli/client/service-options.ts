import { Option } from 'commander';

const DEFAULT_URL = 'http://127.0.0.1:3000';

export const addressFromEnv = (): string | undefined => process.env.DARKROOM_URL || undefined;

/** Every command that calls the service has this option and `keyOption`. */
export const urlOption = (): Option =>
  new Option('--url <url>', 'address of the service (env: DARKROOM_URL)').default(addressFromEnv() ?? DEFAULT_URL);

export const keyOption = (): Option =>
  new Option('--key <key>', 'API key; other users of this machine can see it, so prefer the variable').env(
    'DARKROOM_API_KEY',
  );

/** @throws Error when no key was given */
export function requireKey(key: string | undefined): string {
  if (!key) throw new Error('No API key: set DARKROOM_API_KEY or pass --key.');
  return key;
}

import type { Command } from 'commander';
import { Darkroom } from '@darkroom/client';
import { Transport } from '@darkroom/client/transport';
import { keyOption, requireKey, urlOption } from './service-options.ts';

/** The options of every command that uses the client. */
export interface Connection {
  url: string;
  key?: string;
  json?: true;
}

const MAX_RETRIES = 4;

/** For routes for which `Darkroom` has no methods. */
export const transportTo = ({ url, key }: Connection): Transport =>
  new Transport({ baseUrl: url, apiKey: requireKey(key), maxRetries: MAX_RETRIES });

export const connect = ({ url, key }: Connection): Darkroom =>
  new Darkroom({ baseUrl: url, apiKey: requireKey(key), maxRetries: MAX_RETRIES });

/** @param example a command without the word `darkroom`, for --help */
export function connected(command: Command, example: string): Command {
  return command
    .option('--json', 'print as JSON')
    .addOption(urlOption())
    .addOption(keyOption())
    .addHelpText('after', `\nExample: npx darkroom ${example}`);
}

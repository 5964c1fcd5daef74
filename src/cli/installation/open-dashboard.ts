import type { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { ApiKeysService } from '../../auth/api-keys/api-keys.service.ts';
import { SCOPES } from '../../auth/access/caller.ts';
import { OneTimeCodes } from '../../auth/sessions/one-time-codes.ts';
import { openBrowser } from '../terminal/open-browser.ts';
import { withKeyContext } from './key-context.ts';

const PAGE_SIZE = 100;
const LINK_LIFE_S = 600;

interface Options {
  key?: string;
  url?: string;
  print?: true;
  json?: true;
}

export async function openDashboard(options: Options): Promise<void> {
  await withKeyContext(async (context) => {
    const apiKeys = context.get(ApiKeysService);
    const apiKey = options.key === undefined ? await oldestFullKey(apiKeys) : await apiKeys.find(options.key);
    const link = await context.get(OneTimeCodes).linkFor(apiKey.id, options.url?.replace(/\/+$/, ''));
    if (options.json) return console.log(JSON.stringify({ url: link, expires_in_s: LINK_LIFE_S }, null, 2));
    console.log(link);
    console.error(`It works once, within 10 minutes, and signs in with the key "${apiKey.name}".`);
    if (!options.print && process.stdout.isTTY) openBrowser(link);
  });
}

/**
 * The oldest key that has every scope and has not expired. The operator's key is made first, so it is the oldest unless
 * it was revoked.
 */
async function oldestFullKey(apiKeys: ApiKeysService): Promise<ApiKey> {
  let oldest: ApiKey | undefined;
  for (let after: string | undefined; ;) {
    const page = await apiKeys.list({ limit: PAGE_SIZE, after });
    oldest = page.apiKeys.findLast(isFull) ?? oldest;
    if (!page.hasMore) break;
    after = page.apiKeys.at(-1)!.id;
  }
  if (!oldest) throw new Error('No API key has every scope. Name one with --key; `npx darkroom keys list` shows them.');
  return oldest;
}

const isFull = ({ scopes, expires_at: expiresAt }: ApiKey): boolean =>
  SCOPES.every((scope) => scopes.includes(scope)) && (expiresAt === null || expiresAt.getTime() > Date.now());

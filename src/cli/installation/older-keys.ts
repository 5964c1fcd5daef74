import type { DataSource } from 'typeorm';
import type { Config } from '../../platform/config/config.ts';
import { loadSecretKeys, Secrets } from '../../platform/config/secrets.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { type OlderKeyUse, readOlderKeyUses, readOlderSigners } from './sql/older-keys.ts';

/** The expiry of a link is rounded up, so a link works for at most FILE_URL_TTL_S times this factor. */
const LINK_ROUNDING = 1.25;
const MS_PER_S = 1000;

/**
 * Reports what still needs keys of SECRET_KEY other than the newest, so that an operator knows when to remove one.
 * @throws Error for the operator when something needs a key that is not there
 */
export async function olderKeys(dataSource: DataSource, config: Config): Promise<string> {
  const secrets = new Secrets(await loadSecretKeys(config));
  const [newest, ...older] = secrets.keyIds;
  const uses = await readOlderKeyUses(dataSource, newest);
  const missing = uses.filter(({ secret_key_id: id }) => id !== null && !older.includes(id));
  if (missing.length > 0) {
    throw new Error(`a key that is not in SECRET_KEY is needed by ${inWords(missing)}: add it again, as the last`);
  }
  if (older.length === 0) return 'none are set, and none are needed';
  const until = await linksUntil(dataSource, config, secrets);
  const needs = [...(uses.length > 0 ? [inWords(uses)] : []), ...(until ? [`file links until ${until}`] : [])];
  if (needs.length > 0) return `still needed by ${needs.join(' and ')}: keep all keys of SECRET_KEY`;
  return 'nothing needs them: remove all keys but the first from SECRET_KEY';
}

/**
 * The time until which links signed with older keys may be used. A link in a webhook works as long as files are kept by
 * default. A task of low priority may read a reference image until its deadline, even if the link to the image has
 * expired since the creation of the task.
 * @returns a time in the future; null when no link of an older key works any more
 */
async function linksUntil(dataSource: DataSource, config: Config, { keyId, keyIds }: Secrets): Promise<string | null> {
  const linkS = Math.max(config.fileRetentionDays * DAY_S, config.fileUrlTtlS * LINK_ROUNDING);
  const lifetimeMs = (linkS + config.lowDeadlineS) * MS_PER_S;
  const signers = await readOlderSigners(dataSource, keyId);
  const known = signers.filter(({ id }) => keyIds.includes(id));
  const last = Math.max(...known.map(({ newest_at }) => newest_at.getTime() + lifetimeMs));
  return last > Date.now() ? new Date(last).toISOString() : null;
}

function inWords(uses: readonly OlderKeyUse[]): string {
  const apiKeys = uses.reduce((sum, use) => sum + use.api_keys, 0);
  const endpoints = uses.reduce((sum, use) => sum + use.webhook_endpoints, 0);
  const examples = uses.flatMap((use) => use.examples).slice(0, 5);
  const named = examples.length > 0 ? ` (${examples.join(', ')}${apiKeys > examples.length ? ', …' : ''})` : '';
  return `${apiKeys} API keys${named} and ${endpoints} webhook endpoints`;
}

import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Config } from '../../platform/config.ts';
import { Secrets } from '../../platform/secrets.ts';
import { isWellFormed, newApiKey } from './api-key-format.ts';
import { ApiKeySecret } from './api-key-secret.entity.ts';
import { ApiKey } from './api-key.entity.ts';
import { ApiKeysService } from './api-keys.service.ts';
import { SCOPES } from '../caller.ts';
import { hashOf } from './key-hash.ts';

/** Any number, the same in every process: starts at the same moment take their turn. */
const LOCK = 7_274_613;

/** Sees to it that a fresh installation has a key to begin with. */
@Injectable()
export class Bootstrap {
  readonly #logger = new Logger(Bootstrap.name);

  constructor(
    private readonly config: Config,
    private readonly dataSource: DataSource,
    private readonly secrets: Secrets,
    private readonly apiKeys: ApiKeysService,
  ) {}

  /**
   * With BOOTSTRAP_API_KEY: makes sure that it exists with all scopes. Without: makes a key if there has never been one.
   * @returns the key just made up, to be printed once; null when there is nothing to tell
   * @throws Error when BOOTSTRAP_API_KEY has a wrong checksum
   */
  async run(): Promise<string | null> {
    const preset = this.config.bootstrapApiKey;
    if (preset !== null && !isWellFormed(preset)) {
      throw new Error(
        'BOOTSTRAP_API_KEY is not a valid key: its checksum does not fit. `darkroom keys create --print-only` prints one that does.',
      );
    }
    return this.dataSource.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
      if (preset !== null) {
        await this.#preset(tx, preset);
        return null;
      }
      if (await tx.existsBy(ApiKey, {})) return null;
      const { key } = await this.apiKeys.issue(tx, { name: 'first key', scopes: SCOPES }, newApiKey());
      return key;
    });
  }

  /** Revoked or rotated away stays so: a restart must not bring back a key that somebody took out of use. */
  async #preset(tx: EntityManager, preset: string): Promise<void> {
    const secret = await tx.findOneBy(ApiKeySecret, { hash: hashOf(preset, this.secrets) });
    if (!secret) {
      await this.apiKeys.issue(tx, { name: 'BOOTSTRAP_API_KEY', scopes: SCOPES }, preset);
      return;
    }
    const apiKey = await tx.findOneByOrFail(ApiKey, { id: secret.apiKeyId });
    if (apiKey.revokedAt || secret.expiresAt) {
      this.#logger.warn(
        `BOOTSTRAP_API_KEY was ${apiKey.revokedAt ? 'revoked' : 'rotated'} and is left so (${apiKey.id})`,
      );
    } else if (SCOPES.some((scope) => !apiKey.scopes.includes(scope))) {
      await tx.update(ApiKey, { id: apiKey.id }, { scopes: [...SCOPES] });
    }
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { type EntityManager, In } from 'typeorm';
import { Config } from '../../platform/config/config.ts';
import { SCOPES } from '../access/caller.ts';
import { SERVICE } from '../audit/actor.ts';
import { AuditLog, type RecordAct } from '../audit/audit-log.ts';
import { lockBootstrap } from './sql/lock-bootstrap.ts';
import { isWellFormed, newApiKey } from '../credentials/api-key-format.ts';
import { ApiKeySecret } from './api-key-secret.entity.ts';
import { ApiKey } from './api-key.entity.ts';
import type { IssuedApiKey } from './api-key-acts.ts';
import { ApiKeysService } from './api-keys.service.ts';
import { KeyHashes } from '../credentials/key-hashes.ts';

const NO_KEY_HINT = 'No API key exists. Set BOOTSTRAP_API_KEY, or run `npx darkroom keys create --all-scopes`.';

/** Creates the first key of a new installation, or the key of BOOTSTRAP_API_KEY. */
@Injectable()
export class Bootstrap {
  private readonly logger = new Logger('auth');

  constructor(
    private readonly config: Config,
    private readonly service: ApiKeysService,
    private readonly audit: AuditLog,
    private readonly hashes: KeyHashes,
  ) {}

  /**
   * Ensures that the key of BOOTSTRAP_API_KEY exists with all scopes, unless it was revoked or rotated.
   * @throws Error when BOOTSTRAP_API_KEY is malformed or its checksum is wrong
   */
  async preset(): Promise<void> {
    const preset = this.config.bootstrapApiKey;
    if (preset === null) return;
    if (!isWellFormed(preset)) {
      throw new Error(
        'BOOTSTRAP_API_KEY is not a valid key: its checksum does not match. `npx darkroom keys create --print-only` prints a valid one.',
      );
    }
    await this.audit.transaction(SERVICE, async (tx, record) => {
      await lockBootstrap(tx);
      await this.ensurePreset(tx, record, preset);
    });
  }

  /**
   * Without BOOTSTRAP_API_KEY: creates a key if there is none, not even a revoked one. Creates none in production,
   * where the logs of containers would keep the printed key. Creates none in a process that has no API. Call this when
   * nothing can fail any more: the key is printed only once.
   * @returns null when no key was created
   */
  async first(): Promise<IssuedApiKey | null> {
    if (this.config.bootstrapApiKey !== null || this.config.role === 'worker') return null;
    return this.audit.transaction(SERVICE, async (tx, record) => {
      await lockBootstrap(tx);
      if (await tx.existsBy(ApiKey, {})) return null;
      if (this.config.isProduction) {
        this.logger.warn({ event: 'bootstrap.key_missing', hint: NO_KEY_HINT });
        return null;
      }
      return this.service.issue(tx, record, { name: 'first key', scopes: SCOPES }, newApiKey(this.config.cell));
    });
  }

  /** A restart must not restore a key that was taken out of use, so a revoked or rotated key stays as it is. */
  private async ensurePreset(tx: EntityManager, record: RecordAct, preset: string): Promise<void> {
    const hashes = this.hashes.of(preset);
    const secret = await tx.findOneBy(ApiKeySecret, { hash: In(hashes) });
    if (!secret) {
      await this.service.issue(tx, record, { name: 'BOOTSTRAP_API_KEY', scopes: SCOPES }, preset);
      return;
    }
    // Renews the hash. Otherwise a key that was taken out of use would not be recognised after its SECRET_KEY is
    // removed.
    this.hashes.noteUse({ hash: secret.hash, secretKeyId: secret.secret_key_id }, hashes);
    const apiKey = await tx.findOneByOrFail(ApiKey, { id: secret.api_key_id });
    if (apiKey.revoked_at || secret.expires_at) {
      const reason = apiKey.revoked_at ? 'revoked' : 'rotated';
      this.logger.warn({ event: 'bootstrap.key_skipped', api_key_id: apiKey.id, reason });
    } else if (SCOPES.some((scope) => !apiKey.scopes.includes(scope))) {
      await tx.update(ApiKey, { id: apiKey.id }, { scopes: [...SCOPES] });
      await record({
        action: 'api_key.updated',
        apiKeyId: apiKey.id,
        before: { scopes: apiKey.scopes },
        after: { scopes: SCOPES },
      });
    }
  }
}

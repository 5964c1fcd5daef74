import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { NewestKey } from '../../platform/database/secret-keys/newest-key.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import { RESEAL_BATCH, type SealedSecrets, ResealSecrets } from '../sql/reseal-secrets.ts';
import { seal, unseal } from './endpoint-secret.ts';

/** Seconds between two walks over the endpoints. */
const WALK_EVERY_S = 600;
/**
 * Seconds until the next try after an error, and between checks whether all processes agree on the newest SECRET_KEY.
 */
const AGREED_AFTER_S = 10;

/**
 * Seals the secrets of endpoints again with the newest SECRET_KEY, if an older key or an earlier release has sealed
 * them. Runs in every worker process, 100 endpoints at a time.
 */
@Injectable()
export class ResealSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly rounds = new Interval(() => this.round());
  /** The id of the last endpoint that this walk has read. */
  private afterId = '';
  private unreadable = 0;

  constructor(
    private readonly config: Config,
    private readonly secrets: Secrets,
    private readonly newestKey: NewestKey,
    private readonly endpoints: ResealSecrets,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.rounds.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  /** @returns seconds until the next round */
  private async round(): Promise<number> {
    if (!this.newestKey.isAgreed) return AGREED_AFTER_S;
    try {
      const found = await this.endpoints.find(this.afterId, this.secrets.keyId);
      const resealed = found.flatMap((was) => this.resealed(was) ?? []);
      if (resealed.length > 0) await this.endpoints.store(resealed, this.secrets.keyId);
      this.unreadable += found.length - resealed.length;
      this.afterId = found.at(-1)?.id ?? this.afterId;
      return found.length < RESEAL_BATCH ? this.endWalk() : 0;
    } catch (err) {
      this.logger.warn({ event: 'webhook.reseal_failed', err });
      return AGREED_AFTER_S;
    }
  }

  private endWalk(): number {
    if (this.unreadable > 0) this.logger.warn({ event: 'webhook.secret_unreadable', count: this.unreadable });
    this.afterId = '';
    this.unreadable = 0;
    return WALK_EVERY_S;
  }

  /** @returns null when one of the secrets cannot be opened with any key */
  private resealed(was: SealedSecrets): { was: SealedSecrets; now: SealedSecrets } | null {
    try {
      const old_secret = was.old_secret && this.sealedAgain(was.old_secret, was.id);
      return { was, now: { id: was.id, secret: this.sealedAgain(was.secret, was.id), old_secret } };
    } catch {
      return null;
    }
  }

  private sealedAgain(sealed: Buffer, endpointId: string): Buffer {
    const secret = unseal(sealed, this.secrets.deriveAll('webhook-secrets'), endpointId);
    return seal(secret, this.secrets.derive('webhook-secrets'), endpointId);
  }
}

import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Sql } from '../sql.ts';
import { Interval } from '../../run/interval.ts';
import { Secrets } from '../../config/secrets.ts';
import { noteNewestKey } from './sql/note-newest-key.ts';

const NOTE_EVERY_S = 30;

/**
 * Tells the other processes which SECRET_KEY is the newest of this process, and learns whether they have the same
 * newest key. Until all have the same, no rows are encrypted or hashed again with this key: see agreed.ts.
 */
@Injectable()
export class NewestKey implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('process');
  private readonly notes = new Interval(() => this.note());
  private isCommon = false;

  constructor(
    private readonly sql: Sql,
    private readonly secrets: Secrets,
  ) {}

  /**
   * Whether all processes had the same newest key at most 30 s ago. Statements that encrypt or hash rows again check it
   * once more. Always false in the command line, where this class does not start.
   */
  get isAgreed(): boolean {
    return this.isCommon;
  }

  onApplicationBootstrap(): void {
    this.notes.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.notes.stop();
  }

  private async note(): Promise<number> {
    try {
      this.isCommon = await noteNewestKey(this.sql, this.secrets.keyId);
    } catch (err) {
      this.isCommon = false;
      this.logger.warn({ event: 'secret_key.note_failed', err });
    }
    return NOTE_EVERY_S;
  }
}

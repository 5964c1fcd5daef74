import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { FillWords } from '../sql/fill-words.ts';

/** Seconds until the next round, if the last one found little. */
const EVERY_S = 30;
/** Seconds until the next attempt to create the extensions. The role may be given the permission at any time. */
const RETRY_S = 600;
const NOT_PERMITTED = '42501';

/** Runs in every worker process. One process at a time adds the words of final tasks to the index. */
@Injectable()
export class IndexWords implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('words');
  private readonly interval = new Interval(() => this.runOnce());
  private isRefused = false;

  constructor(
    private readonly config: Config,
    private readonly words: FillWords,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(5);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns seconds until the next round */
  private async runOnce(): Promise<number> {
    try {
      return (await this.words.fill()) ? 0 : EVERY_S;
    } catch (err) {
      if ((err as { code?: string }).code !== NOT_PERMITTED) {
        this.logger.warn({ event: 'words.index_failed', err });
        return EVERY_S;
      }
      if (!this.isRefused) this.logger.warn({ event: 'words.extension_missing', err });
      this.isRefused = true;
      return RETRY_S;
    }
  }
}

import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';

/** What every view of usage needs. */
@Injectable()
export class UsageTerms {
  /**
   * The currency of all prices and costs (ISO 4217). `ProviderRegistry` sets it at the start, from the file of prices.
   */
  currency = 'USD';
  readonly revealProviders: boolean;

  constructor(config: Config) {
    this.revealProviders = config.revealProviders;
  }
}

import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { toBudgetStatus } from '../../auth/limits/budget.view.ts';
import { KeyBudgets } from '../../auth/limits/key-budgets.ts';
import { Config } from '../../platform/config/config.ts';
import { Sql } from '../../platform/database/sql.ts';
import { Interval } from '../../platform/run/interval.ts';
import { DAY_MS } from '../../platform/schema/time.ts';
import { BudgetRefusals } from '../../tasks/acts/budget-refusals.ts';
import { EventRecorder } from './event-recorder.ts';

const TYPES = { threshold: 'budget.threshold_reached', exceeded: 'budget.exceeded' } as const;

/**
 * Reports two things about a budget, each once in a period: that it has reached its soft threshold, and its first
 * refusal. One transaction marks the report and writes the event. The worker looks for thresholds every few seconds, so
 * that creations and ends of tasks need not look.
 */
@Injectable()
export class BudgetEventsWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('budgets');
  private readonly interval = new Interval(() => this.runOnce());
  /** API keys whose refusal is being reported. */
  private readonly reporting = new Map<string, Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly config: Config,
    private readonly sql: Sql,
    private readonly budgets: KeyBudgets,
    private readonly recorder: EventRecorder,
    private readonly refusals: BudgetRefusals,
  ) {}

  onApplicationBootstrap(): void {
    this.refusals.register((apiKeyId) => this.reportRefusal(apiKeyId));
    if (this.config.role !== 'api') this.interval.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.interval.stop();
    await Promise.all(this.reporting.values());
  }

  /** @returns seconds until the next look */
  private async runOnce(): Promise<number> {
    try {
      for (const apiKeyId of await this.budgets.atThreshold()) {
        if (this.isStopping) break;
        await this.report('threshold', apiKeyId).catch((err: unknown) => this.warn(apiKeyId, err));
      }
    } catch (err) {
      this.logger.warn({ event: 'budget.poll_failed', err });
    }
    return this.config.taskSweepS;
  }

  /** Reports a refusal. If the report fails, the next refusal is reported instead. */
  private reportRefusal(apiKeyId: string): void {
    if (this.reporting.has(apiKeyId)) return;
    const report = this.report('exceeded', apiKeyId)
      .catch((err: unknown) => this.warn(apiKeyId, err))
      .finally(() => this.reporting.delete(apiKeyId));
    this.reporting.set(apiKeyId, report);
  }

  private warn(apiKeyId: string, err: unknown): void {
    this.logger.warn({ event: 'budget.report_failed', api_key_id: apiKeyId, err });
  }

  private async report(event: keyof typeof TYPES, apiKeyId: string): Promise<void> {
    const send = await this.sql.transaction(async (tx) => {
      const state = await this.budgets.report(tx, event, apiKeyId);
      if (!state) return null;
      const { api_key_id, amount_micros } = state;
      const createdAt = new Date();
      return this.recorder.record(tx, {
        apiKeyId,
        type: TYPES[event],
        data: { object: 'budget', api_key_id, ...toBudgetStatus(state), amount_micros },
        removedFirst: [],
        createdAt,
        expiresAt: new Date(createdAt.getTime() + this.config.taskRetentionDays * DAY_MS),
      });
    });
    if (!send) return;
    send();
    this.logger.log({ event: TYPES[event], api_key_id: apiKeyId });
  }
}

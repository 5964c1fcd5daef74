import { Injectable } from '@nestjs/common';
import { refusalsByKey } from '../../auth/limits/rate-limits.ts';
import { Bus } from '../../platform/events/bus.ts';
import { logLevels } from '../../platform/observe/logging/logging.ts';
import { Metrics, type Sample } from '../../platform/observe/measuring/metrics.ts';
import { runsByProvider } from '../../providers/provider-metrics.ts';
import { failuresByKey } from '../../tasks/queue/task-metrics.ts';
import type { KeyActivity, ProcessActivity, ProviderRuns } from './activity.ts';
import { countEvents, OBJECTIVES } from './objectives.ts';
import { RecentCounts } from './recent-counts.ts';

const HOUR_S = 3_600;
const RATES_S = 300;
/** The maximum number of keys in a report: those with most refusals and failures. */
const MAX_KEYS = 100;
/** Errors of tasks that say nothing about the provider. */
const NO_FAILURE: readonly unknown[] = ['task_cancelled', 'content_policy_violation'];

const nameOf = (...parts: (string | number | undefined)[]): string => JSON.stringify(parts.map((part) => part ?? null));
type Part = string | null;

/**
 * Reports what this process has counted in the last hour: the growth of its metrics, and counts that are not metrics.
 */
@Injectable()
export class ActivityReporter {
  private readonly recent = new RecentCounts();
  private readonly errors = new Map<string, { code: string; atS: number }>();
  private before = new Map<string, number>();

  constructor(
    private readonly metrics: Metrics,
    private readonly bus: Bus,
  ) {}

  async report(): Promise<ProcessActivity> {
    await this.count();
    const hour = [...this.recent.sums(HOUR_S)].map(([name, count]) => ({ parts: JSON.parse(name) as Part[], count }));
    const recent = this.recent.sums(RATES_S);
    const of = (kind: string) =>
      hour.filter(({ parts }) => parts[0] === kind).map(({ parts: [, ...parts], count }) => ({ parts, count }));
    return {
      created: recent.get(nameOf('created')) ?? 0,
      ended: recent.get(nameOf('ended')) ?? 0,
      objectives: OBJECTIVES.map(({ name }) => ({
        name,
        events: of('events').find(({ parts }) => parts[0] === name)?.count ?? 0,
        bad: of('bad').find(({ parts }) => parts[0] === name)?.count ?? 0,
      })),
      runs: this.runsOf(of('run')),
      passed_over: of('passed_over').map(({ parts: [provider, reason], count }) => ({
        provider: String(provider),
        reason: String(reason),
        count,
      })),
      attempts: of('attempt').map(({ parts: [outcome, error], count }) => ({
        outcome: String(outcome),
        error: error ?? null,
        count,
      })),
      keys: keysOf(of('refused'), of('failed')),
      pool: await this.pool(),
      bus: { connected: this.bus.isConnected, outbox: this.bus.waiting },
      log: logLevels.current,
    };
  }

  private async count(): Promise<void> {
    const now = await this.totals();
    const grown = [...now].map(([name, count]) => [name, count - (this.before.get(name) ?? 0)] as const);
    this.before = now;
    const counts = grown.filter(([, count]) => count > 0);
    const runs = [...runsByProvider.take()].map(([name, count]) => ({ parts: name.split(' '), count }));
    for (const { parts } of runs) this.noteError(parts);
    const taken = [
      ...runs
        .filter(({ parts: [, , code] }) => !NO_FAILURE.includes(code))
        .map(({ parts, count }) => [nameOf('run', ...parts), count] as const),
      ...[...refusalsByKey.take()].map(([key, count]) => [nameOf('refused', key), count] as const),
      ...[...failuresByKey.take()].map(([key, count]) => [nameOf('failed', key), count] as const),
    ];
    this.recent.add([...counts, ...taken]);
  }

  private noteError([model, provider, code]: string[]): void {
    if (code === undefined || NO_FAILURE.includes(code)) return;
    this.errors.set(`${model} ${provider}`, { code, atS: Math.floor(Date.now() / 1000) });
  }

  /** Counts since the start of the process. */
  private async totals(): Promise<Map<string, number>> {
    const totals = new Map<string, number>();
    const add = (name: string, count: number) => totals.set(name, (totals.get(name) ?? 0) + count);
    const names = new Set(OBJECTIVES.map(({ metric }) => metric));
    const samples = new Map<string, Sample[]>();
    for (const name of names) samples.set(name, await this.metrics.samples(name));
    for (const objective of OBJECTIVES) {
      const { events, bad } = countEvents(objective, samples.get(objective.metric)!);
      add(nameOf('events', objective.name), events);
      add(nameOf('bad', objective.name), bad);
    }
    for (const { value } of await this.metrics.samples('darkroom_tasks_created_total')) add(nameOf('created'), value);
    for (const { value } of samples.get('darkroom_tasks_ended_total')!) add(nameOf('ended'), value);
    for (const { labels, value } of await this.metrics.samples('darkroom_provider_passed_over_total')) {
      add(nameOf('passed_over', labels.provider, labels.reason), value);
    }
    for (const { labels, value } of await this.metrics.samples('darkroom_webhook_attempts_total')) {
      add(nameOf('attempt', labels.outcome, labels.error_type), value);
    }
    return totals;
  }

  private runsOf(counted: { parts: Part[]; count: number }[]): ProviderRuns[] {
    const runs = new Map<string, ProviderRuns>();
    for (const { parts, count } of counted) {
      const [model, provider] = [String(parts[0]), String(parts[1])];
      const name = `${model} ${provider}`;
      const { code = null, atS = null } = this.errors.get(name) ?? {};
      const known = runs.get(name) ?? {
        model,
        provider,
        succeeded: 0,
        failed: 0,
        last_error_code: code,
        last_error_at: atS,
      };
      if (parts[2]) known.failed += count;
      else known.succeeded += count;
      runs.set(name, known);
    }
    return [...runs.values()];
  }

  private async pool(): Promise<ProcessActivity['pool']> {
    const connections = await this.metrics.samples('darkroom_database_connections');
    const one = async (name: string) => (await this.metrics.samples(name))[0]?.value ?? 0;
    const inState = (state: string) => connections.find(({ labels }) => labels.state === state)?.value ?? 0;
    return {
      used: inState('used'),
      idle: inState('idle'),
      waiting: await one('darkroom_database_waiting_requests'),
      max: await one('darkroom_database_connections_max'),
    };
  }
}

type Counted = { parts: Part[]; count: number }[];

function keysOf(refused: Counted, failed: Counted): KeyActivity[] {
  const byKey = (counted: Counted) => new Map(counted.map(({ parts, count }) => [String(parts[0]), count]));
  const [refusals, failures] = [byKey(refused), byKey(failed)];
  return [...new Set([...refusals.keys(), ...failures.keys()])]
    .map((id) => ({ api_key_id: id, refused: refusals.get(id) ?? 0, failed: failures.get(id) ?? 0 }))
    .toSorted((one, other) => other.refused + other.failed - one.refused - one.failed)
    .slice(0, MAX_KEYS);
}

import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Bus } from '../../platform/events/bus.ts';
import { Interval } from '../../platform/run/interval.ts';
import { PauseTasks } from '../sql/pause-tasks.ts';
import type { Pause } from '../record/pause.entity.ts';

const TOPIC = 'pauses';
/**
 * Seconds between reads of the pauses. A process that receives nothing over the bus thus learns of a pause within 5 s.
 */
const REFRESH_S = 4;
/** Retry-After for a pause without an end, and the highest Retry-After for any pause. */
const RETRY_AFTER_S = 60;

/**
 * The pauses in force, as this process knows them. Claims read the table instead, so that no task of a paused model
 * starts.
 */
@Injectable()
export class Pauses implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('pauses');
  private readonly interval = new Interval(() => this.refreshOnTime());
  private readonly listeners: (() => void)[] = [];
  private known: Pause[] = [];

  constructor(
    private readonly statements: PauseTasks,
    private readonly bus: Bus,
  ) {}

  /** Nest awaits this hook, so the process knows the pauses before its first request. */
  async onApplicationBootstrap(): Promise<void> {
    this.bus.subscribe(TOPIC, () => void this.changedElsewhere());
    await this.refresh();
    this.interval.start(REFRESH_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @param listener called after a change of the pauses by an operator, in any process */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Call this after the commit of a change of the pauses. */
  async changed(): Promise<void> {
    this.bus.publish(TOPIC, '');
    await this.refresh();
    for (const listener of this.listeners) listener();
  }

  /** How many pauses are in force. */
  get count(): number {
    return this.inForce().length;
  }

  /**
   * Whether a pause keeps new work from a place of the provider.
   * @param endpoint of the place: provider, base URL and name of the credential in one text
   */
  isPaused(provider: string, endpoint: string): boolean {
    return this.known.length > 0 && this.holding(provider, endpoint).length > 0;
  }

  /** The ids of the pauses that keep new work from this place. The parameters are those of `isPaused`. */
  holding(provider: string, endpoint: string): string[] {
    const holds = ({ kind, target }: Pause) =>
      (kind === 'provider' && target === provider) || (kind === 'place' && target === endpoint);
    return this.inForce()
      .filter(holds)
      .map(({ id }) => id);
  }

  /** The error for a creation, if an operator has paused its model and refuses creations meanwhile; otherwise null. */
  refusalOf(model: string): ApiError | null {
    if (this.known.length === 0) return null;
    const pause = this.inForce().find(({ models, refuse_creates }) => refuse_creates && models.includes(model));
    if (!pause) return null;
    const leftS = pause.until ? Math.ceil((pause.until.getTime() - Date.now()) / 1000) : RETRY_AFTER_S;
    return new ApiError('service_unavailable', {
      message: 'The operator of the service has paused this model; try again later.',
      retryAfterS: Math.min(Math.max(leftS, 1), RETRY_AFTER_S),
    });
  }

  private inForce(): Pause[] {
    return this.known.filter(({ until }) => until === null || until.getTime() > Date.now());
  }

  private async changedElsewhere(): Promise<void> {
    await this.refresh();
    for (const listener of this.listeners) listener();
  }

  private async refreshOnTime(): Promise<number> {
    await this.refresh();
    return REFRESH_S;
  }

  /** While the database is away, the last known pauses stay in force. */
  private async refresh(): Promise<void> {
    try {
      this.known = await this.statements.read();
    } catch (err) {
      this.logger.warn({ event: 'pauses.refresh_failed', err });
    }
  }
}

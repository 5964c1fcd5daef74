import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.ts';
import { Sql } from './sql.ts';
import { Metrics, type SetSeries } from '../observe/measuring/metrics.ts';
import { collectErrors } from '../observe/measuring/collect-errors.ts';

/** How long the facts that were read are reused, however often metrics are scraped. */
const EVERY_MS = 10_000;
const TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT = `set local statement_timeout = ${TIMEOUT_MS}`;

type Facts = Record<string, object | null>;

/** A row of the database that describes the whole service. A module makes metrics of it. */
export interface Fact<Row extends object> {
  name: string;
  /**
   * A `select` of one row. It must stay fast however much is stored: its cost may grow with the number of API keys and
   * webhook endpoints, but not with the number of tasks.
   */
  text: string;
  /** Never set; only carries the type of the row. */
  row?: Row;
}

type Reader<Label extends string> = (facts: Facts, set: SetSeries<Label>) => void;

/**
 * Reads facts from the database, for metrics. A scrape reads all of them with one statement, at most every ten seconds.
 * Processes with ROLE=api do not read them. When the statement fails or takes too long, the metrics are absent, because
 * an old value would look like a new one.
 */
@Injectable()
export class DatabaseFacts {
  private readonly texts = new Map<string, string>();
  private readonly readers = new Map<string, Reader<string>[]>();
  private reading: Promise<Facts | null> = Promise.resolve(null);
  private readMs = -Infinity;

  constructor(
    private readonly config: Config,
    private readonly sql: Sql,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Registers a metric. Several modules may contribute to the same metric.
   * @param fact the fact that `read` gets
   */
  gauges<const Label extends string, Row extends object>(
    { name, help, labels }: { name: string; help: string; labels: readonly Label[] },
    fact: Fact<Row>,
    read: (row: Row, set: SetSeries<Label>) => void,
  ): void {
    if (this.config.role === 'api') return;
    this.texts.set(fact.name, fact.text);
    const reader: Reader<Label> = (facts, set) => {
      const row = facts[fact.name];
      if (row) read(row as Row, set);
    };
    const others = this.readers.get(name);
    if (others) {
      others.push(reader as Reader<string>);
      return;
    }
    const readers = [reader as Reader<string>];
    this.readers.set(name, readers);
    this.metrics.gauges(name, help, labels, async (set) => {
      const facts = await this.read();
      if (facts) for (const each of readers) each(facts, set as SetSeries<string>);
    });
  }

  private read(): Promise<Facts | null> {
    const now = performance.now();
    if (now - this.readMs >= EVERY_MS) {
      this.readMs = now;
      this.reading = this.select();
    }
    return this.reading;
  }

  private async select(): Promise<Facts | null> {
    const facts = [...this.texts].map(([name, text]) => `(select to_json(f) from (${text}) f) as ${name}`);
    const tooLate = Promise.withResolvers<never>();
    const timer = setTimeout(() => tooLate.reject(new Error('The database is too slow.')), 2 * TIMEOUT_MS);
    try {
      const rows = this.sql.transaction(async (tx) => {
        const limited = tx.query(STATEMENT_TIMEOUT);
        const read = tx.query<Facts>({ name: 'metrics.facts', text: `select ${facts.join(', ')}` });
        return (await Promise.all([limited, read]))[1].rows;
      });
      return (await Promise.race([rows, tooLate.promise]))[0] ?? null;
    } catch {
      collectErrors.inc({ what: 'database' });
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

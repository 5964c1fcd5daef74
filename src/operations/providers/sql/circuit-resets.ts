import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Sql, type Statement } from '../../../platform/database/sql.ts';

const READ: Statement = {
  name: 'operations.read_circuit_resets',
  text: `select endpoint, extract(epoch from reset_at)::float8 as at_s from circuit_resets where endpoint = any($1::text[])`,
};

/** Raw SQL because every process reads these rows every few seconds. */
@Injectable()
export class CircuitResets {
  constructor(private readonly sql: Sql) {}

  /** @returns unix seconds of the last reset, by endpoint */
  async read(endpoints: string[]): Promise<Map<string, number>> {
    const rows = await this.sql.run<{ endpoint: string; at_s: number }>(READ, [endpoints]);
    return new Map(rows.map(({ endpoint, at_s }) => [endpoint, at_s]));
  }
}

export async function noteReset(tx: EntityManager, endpoint: string): Promise<void> {
  await tx.query(
    `insert into circuit_resets (endpoint, reset_at) values ($1, clock_timestamp())
     on conflict (endpoint) do update set reset_at = clock_timestamp()`,
    [endpoint],
  );
}

import type { Client } from 'pg';

export interface Moment {
  /** A time at or just after the snapshot, in ISO 8601. Nothing in the snapshot is later. */
  taken_at: string;
  postgres: string;
}

/** @param client a connection in a transaction with a snapshot */
export async function readMoment(client: Client): Promise<Moment> {
  const { rows } = await client.query<{ time: Date; postgres: string }>(
    `select clock_timestamp() + interval '1 millisecond' as time, current_setting('server_version') as postgres`,
  );
  const { time, postgres } = rows[0]!;
  return { taken_at: time.toISOString(), postgres };
}

/** The text of the marker in the storage of this database; null if none was written. */
export async function readMarker(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>('select id from storage_marker where written_at is not null');
  return rows[0]?.id ?? null;
}

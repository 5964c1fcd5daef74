import type { Client } from 'pg';

export interface Moment {
  /** At or just after the snapshot, in ISO 8601: nothing that it holds is later. */
  taken_at: string;
  postgres: string;
}

/** @param client inside its snapshot, which its first statement takes */
export async function readMoment(client: Client): Promise<Moment> {
  const { rows } = await client.query<{ time: Date; postgres: string }>(
    `select clock_timestamp() + interval '1 millisecond' as time, current_setting('server_version') as postgres`,
  );
  const { time, postgres } = rows[0]!;
  return { taken_at: time.toISOString(), postgres };
}

/** What the storage of this database holds under its marker; null if none was written. */
export async function readMarker(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>('select id from storage_marker where written_at is not null');
  return rows[0]?.id ?? null;
}

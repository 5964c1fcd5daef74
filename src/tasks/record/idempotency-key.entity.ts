import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An Idempotency-Key of an API key, with the answer that a repeated request gets. */
@Entity('idempotency_keys')
export class IdempotencyKey {
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') key: string;
  /** SHA-256 of the canonical body of the request. */
  @Column('bytea') request_hash: Buffer;
  @Column('text') task_id: string;
  /** The answer as JSON, repeated byte for byte. */
  @Column('text') response: string;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') expires_at: Date;
}

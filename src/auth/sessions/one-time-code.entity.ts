import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A link that opens one session. */
@Entity('one_time_codes')
export class OneTimeCode {
  /** SHA-256 of the code. */
  @PrimaryColumn('bytea') hash: Buffer;
  /** The hash of the API key's secret to which the session will be bound. */
  @Column('bytea') secret_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
}

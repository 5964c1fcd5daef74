import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A link that opens one session. */
@Entity('one_time_codes')
export class OneTimeCode {
  /** SHA-256 of the code. */
  @PrimaryColumn('bytea') hash: Buffer;
  /** The secret of the API key that the session will be bound to. */
  @Column('bytea') secret_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
}

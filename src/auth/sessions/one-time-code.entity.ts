import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The code of a sign-in link, which opens one session. */
@Entity('one_time_codes')
export class OneTimeCode {
  /** SHA-256 of the code. */
  @PrimaryColumn('bytea') hash: Buffer;
  /** The hash of the API key's secret to which the session will be bound. */
  @Column('bytea') secret_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
}

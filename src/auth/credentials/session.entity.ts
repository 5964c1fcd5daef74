import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A browser that is signed in with an API key. Only hashes are stored, so that a copy of the database opens no session.
 */
@Entity('sessions')
export class Session {
  /** `sess_` and 26 characters. Names the session, but cannot open it. */
  @PrimaryColumn('text') id: string;
  /** SHA-256 of the token in the cookie. A fast hash is enough for 256 random bits. */
  @Column('bytea') token_hash: Buffer;
  /**
   * The hash of the secret that the session belongs to: the secret that opened the session or, if this browser has
   * rotated the key, the new secret. The session ends with its secret.
   */
  @Column('bytea') secret_hash: Buffer;
  @Column('text') api_key_id: string;
  /** The User-Agent header of the browser, at most 200 characters. */
  @Column('text') user_agent: string;
  /** Seconds without a request after which the session ends. */
  @Column('integer') idle_s: number;
  @Column('timestamptz') created_at: Date;
  /** Accurate to about a minute. */
  @Column('timestamptz') last_seen_at: Date;
  @Column('timestamptz') expires_at: Date;
}

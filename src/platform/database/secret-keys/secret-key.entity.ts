import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key of SECRET_KEY that has been the newest of a process. */
@Entity('secret_keys')
export class SecretKey {
  /** Names the key without revealing it, see `Secrets.keyId`. */
  @PrimaryColumn('text') id: string;
  /** The last time at which a process had it as its newest, accurate to 30 s. */
  @Column('timestamptz') newest_at: Date;
}

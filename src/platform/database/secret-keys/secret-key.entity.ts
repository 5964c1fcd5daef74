import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key of SECRET_KEY that has been the newest of a process. */
@Entity('secret_keys')
export class SecretKey {
  /** Identifies the key without revealing it: see `Secrets.keyId`. */
  @PrimaryColumn('text') id: string;
  /** When a process last had this key as its newest, accurate to 30 s. */
  @Column('timestamptz') newest_at: Date;
}

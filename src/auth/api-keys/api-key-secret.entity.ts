import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One secret of an API key. Only its hash is stored, so that a copy of the database grants no access. */
@Entity('api_key_secrets')
export class ApiKeySecret {
  /** HMAC-SHA256 of the whole key with a pepper of the server. */
  @PrimaryColumn('bytea') hash: Buffer;
  /** The id of the SECRET_KEY that made the hash; null: a process of an earlier release wrote the row. */
  @Column('text', { nullable: true }) secret_key_id: string | null;
  @Column('text') api_key_id: string;
  @Column('timestamptz') created_at: Date;
  /** null: the current secret, of which a key has exactly one. Otherwise the end of the overlap after a rotation. */
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
}

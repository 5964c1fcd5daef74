import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One secret of an API key: only its hash, so that a copy of the database opens nothing. */
@Entity('api_key_secrets')
export class ApiKeySecret {
  /** HMAC-SHA256 of the whole key with the server's pepper. */
  @PrimaryColumn({ type: 'bytea' })
  hash: Buffer;

  @Column({ name: 'api_key_id', type: 'text' })
  apiKeyId: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  /** null: the current secret, of which a key has one; otherwise the end of a rotation's overlap. */
  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Date | null;
}

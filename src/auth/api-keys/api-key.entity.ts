import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ApiKeyLimits } from './api-key-limits.ts';
import type { Scope } from '../caller.ts';

/** The tenant as stored. Its secrets stand apart, since a rotation gives it a second one for a while. */
@Entity('api_keys')
export class ApiKey {
  /** `key_` and 26 characters, time-ordered. */
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  /** Of the current secret: `dr_ab…WXYZ`. */
  @Column({ type: 'text' })
  hint: string;

  @Column({ type: 'text', array: true })
  scopes: Scope[];

  @Column({ type: 'jsonb' })
  limits: ApiKeyLimits;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  /** null: never. */
  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Date | null;

  /** Exact to about a minute. */
  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt: Date | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ApiKeyLimits } from '../limits/api-key-limits.ts';
import type { Scope } from '../access/caller.ts';

/** The tenant. Its secrets are a table of their own, because a rotation can leave two of them valid for a time. */
@Entity('api_keys')
export class ApiKey {
  /** `key_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') name: string;
  /** Of the current secret: `dr_ab…WXYZ`. */
  @Column('text') hint: string;
  @Column('text', { array: true }) scopes: Scope[];
  @Column('jsonb') limits: ApiKeyLimits;
  /** Ids of the models that it may use, exact or ending in `*`; null: every open one. */
  @Column('text', { array: true, nullable: true }) models: string[] | null;
  @Column('timestamptz') created_at: Date;
  /** null: never. */
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  /** The key that made it; null: none, or one of an earlier release. */
  @Column('text', { nullable: true }) created_by: string | null;
  /** Accurate to about a minute. */
  @Column('timestamptz', { nullable: true }) last_used_at: Date | null;
}

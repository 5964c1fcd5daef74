import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ApiKeyLimits } from '../limits/api-key-limits.ts';
import type { Scope } from '../access/caller.ts';

/**
 * An API key, which is the tenant. After a rotation several of its secrets may be valid for a time, so secrets have
 * their own table.
 */
@Entity('api_keys')
export class ApiKey {
  /** `key_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') name: string;
  /** The first and last characters of the current secret: `dr_ab…WXYZ`. */
  @Column('text') hint: string;
  @Column('text', { array: true }) scopes: Scope[];
  @Column('jsonb') limits: ApiKeyLimits;
  /**
   * The models that the key may use: ids, or beginnings of ids followed by `*`. null: every model without
   * `access: listed`.
   */
  @Column('text', { array: true, nullable: true }) models: string[] | null;
  @Column('timestamptz') created_at: Date;
  /** null: never. */
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  /** The key that created this key. null: no key did, or an earlier release created it. */
  @Column('text', { nullable: true }) created_by: string | null;
  /** Accurate to about a minute. */
  @Column('timestamptz', { nullable: true }) last_used_at: Date | null;
}

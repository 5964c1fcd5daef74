import { Column, Entity, PrimaryColumn } from 'typeorm';

export const PAUSE_KINDS = ['model', 'provider', 'place'] as const;
export type PauseKind = (typeof PAUSE_KINDS)[number];

/** SQL: whether a pause is in force. A pause ends when an operator ends it, or at its `until` if it has one. */
export const IN_FORCE = 'not released and ended_at is null and (until is null or until > now())';

/**
 * A pause: an operator stops tasks of a model, of a provider, or at one place of a provider. A place is a base URL with
 * a credential.
 */
@Entity('pauses')
export class Pause {
  /** `pause_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') kind: PauseKind;
  /**
   * The id of the model, or the name of the provider. For a place: provider, base URL and name of the credential in one
   * text.
   */
  @Column('text') target: string;
  /** The number that the place had in the list of providers when it was paused; null for the other kinds. */
  @Column('integer', { nullable: true }) place: number | null;
  /**
   * The models whose tasks cannot start while the pause lasts. Only one open pause lists a model: the pause of the
   * model itself, or else the newest of the pauses that together leave the model without a provider.
   */
  @Column('text', { array: true }) models: string[];
  /** Whether creations for `models` are refused. */
  @Column('boolean') refuse_creates: boolean;
  @Column('text') reason: string;
  /** When the pause ends by itself; null if an operator must end it. */
  @Column('timestamptz', { nullable: true }) until: Date | null;
  @Column('timestamptz') created_at: Date;
  /** The API key that made the pause; null for the command line. */
  @Column('text', { nullable: true }) created_by: string | null;
  /** When `models` or `ended_at` last changed. For a while after that, the tasks of the pause are checked again. */
  @Column('timestamptz') changed_at: Date;
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
  /** Whether the pause has ended and holds no task any more. */
  @Column('boolean') released: boolean;
}

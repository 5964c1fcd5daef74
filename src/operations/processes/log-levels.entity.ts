import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LogLevel } from '../../platform/config/log-levels.ts';

/** The id of the only row. */
export const SERVICE_LEVELS = 'service';

/** The levels that an operator has set for all processes. They hold until an operator changes them. */
@Entity('log_levels')
export class LogLevelsRow {
  @PrimaryColumn('text') id: string;
  /** Replaces LOG_LEVEL; null if LOG_LEVEL is in force. */
  @Column('text', { nullable: true }) log_level: LogLevel | null;
  /** Levels by context. They replace those of LOG_LEVELS. */
  @Column('jsonb') log_levels: Record<string, LogLevel>;
  @Column('timestamptz') changed_at: Date;
  /** The API key that changed the levels; null for the command line. */
  @Column('text', { nullable: true }) changed_by: string | null;
}

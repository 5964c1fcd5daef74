import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { LOG_CONTEXTS, LOG_LEVELS, type LogLevel } from '../../platform/config/log-levels.ts';
import { ALL_PROCESSES } from './process-state.ts';
import { ProcessesService } from './processes.service.ts';
import { LogLevelsRow, SERVICE_LEVELS } from './log-levels.entity.ts';
import { type LogLevelsView, type SetLogLevelsInput, toLogLevelsView } from './log-levels.view.ts';

/** The log levels of all processes. Each process reads them when it renews its row. */
@Injectable()
export class LogLevelsService {
  constructor(
    @InjectRepository(LogLevelsRow) private readonly rows: Repository<LogLevelsRow>,
    private readonly audit: AuditLog,
    private readonly processes: ProcessesService,
  ) {}

  async read(): Promise<LogLevelsView> {
    return toLogLevelsView(await this.rows.findOneBy({ id: SERVICE_LEVELS }));
  }

  /** Replaces all levels that an operator set before. @throws ApiError invalid_value */
  async set({ log_level = null, log_levels }: SetLogLevelsInput, by: Actor): Promise<LogLevelsView> {
    const row = { id: SERVICE_LEVELS, log_level, log_levels: checked(log_levels ?? {}) };
    const view = await this.audit.transaction(by, async (tx, record) => {
      const [before] = await tx.find(LogLevelsRow, { lock: { mode: 'pessimistic_write' } });
      const changed_by = by.caller?.apiKeyId ?? null;
      await tx.upsert(LogLevelsRow, { ...row, changed_by, changed_at: () => 'now()' }, ['id']);
      await record({
        action: 'log_levels.set',
        target: { type: 'log_levels', id: SERVICE_LEVELS },
        before: before ? snapshotOf(before) : null,
        after: snapshotOf(row),
      });
      return toLogLevelsView(await tx.findOneByOrFail(LogLevelsRow, { id: SERVICE_LEVELS }));
    });
    this.processes.announce(ALL_PROCESSES);
    return view;
  }
}

/** The audit logs at `info`, so any less verbose level would silence it. */
const AUDIT_LEVELS: readonly string[] = ['info', 'debug', 'trace'] satisfies LogLevel[];

function checked(levels: Record<string, string>): Record<string, LogLevel> {
  for (const [context, level] of Object.entries(levels)) {
    const param = `log_levels.${context.slice(0, 64)}`;
    if (!(LOG_CONTEXTS as readonly string[]).includes(context)) {
      const message = `log_levels must have contexts of the log: ${LOG_CONTEXTS.join(', ')}.`;
      throw new ApiError('invalid_value', { param, message });
    }
    if (!(LOG_LEVELS as readonly string[]).includes(level)) {
      throw new ApiError('invalid_value', { param, message: `${param} must be one of ${LOG_LEVELS.join(', ')}.` });
    }
    if (context === 'audit' && !AUDIT_LEVELS.includes(level)) {
      const message = `${param} must be one of ${AUDIT_LEVELS.join(', ')}. Only the configuration can silence the audit.`;
      throw new ApiError('invalid_value', { param, message });
    }
  }
  return levels as Record<string, LogLevel>;
}

const snapshotOf = ({ log_level, log_levels }: Pick<LogLevelsRow, 'log_level' | 'log_levels'>) => ({
  log_level,
  log_levels,
});

import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { And, type EntityManager, Equal, LessThan, Raw, Repository } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import type { Actor } from './actor.ts';
import { type AuditAction, AuditEvent, type AuditTarget } from './audit-event.entity.ts';

/** Long enough for a yearly audit. */
const RETENTION_DAYS = 400;

interface Change {
  action: AuditAction;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** An act to record. The record of an act on an API key never contains the key, only its hint. */
export type Act = Change & ({ apiKeyId: string } | { target: { type: AuditTarget; id: string } });

const targetOf = (act: Act) => ('target' in act ? act.target : { type: 'api_key' as const, id: act.apiKeyId });

/** Writes the audit event of an act into the transaction of that act. */
export type RecordAct = (act: Act) => Promise<void>;

interface AuditPage {
  limit: number;
  /** The last id of the previous page. */
  after?: string;
  targetId?: string;
  targetType?: AuditTarget;
  action?: AuditAction;
  /** true: only the acts on single tasks and on shares. false: all acts except these. Missing: all acts. */
  keepsAndShares?: boolean | undefined;
}

/**
 * Conditions for acts on single tasks and on shares, and for all other acts. The values are literals, because
 * PostgreSQL uses a partial index only for a query with the same condition.
 */
const KEPT_OR_SHARED = Raw<AuditTarget>((column) => `${column} in ('task', 'share')`);
const NEITHER = Raw<AuditTarget>((column) => `${column} not in ('task', 'share')`);

/** Records who did what, in the database and in the log. */
@Injectable()
export class AuditLog {
  private readonly logger = new Logger('audit');

  constructor(@InjectRepository(AuditEvent) private readonly events: Repository<AuditEvent>) {}

  /**
   * Runs `work` in one transaction, which also contains the audit events that `work` records. Logs each act after the
   * commit.
   */
  async transaction<Result>(
    actor: Actor,
    work: (tx: EntityManager, record: RecordAct) => Promise<Result>,
  ): Promise<Result> {
    const acts: Act[] = [];
    const actor_id = actor.caller?.apiKeyId ?? null;
    const result = await this.events.manager.transaction((tx) =>
      work(tx, async (act) => {
        await tx.insert(AuditEvent, {
          id: typeidUnboxed('aud'),
          created_at: () => 'now()',
          action: act.action,
          actor_type: actor.type,
          actor_id,
          target_type: targetOf(act).type,
          target_id: targetOf(act).id,
          ip: actor.ip,
          request_id: actor.requestId,
          session_id: actor.browser?.sessionId ?? null,
          user_agent: actor.browser?.userAgent ?? null,
          before: act.before as object | null,
          after: actor.reason === undefined ? (act.after as object | null) : { ...act.after, reason: actor.reason },
        });
        acts.push(act);
      }),
    );
    for (const act of acts) {
      const { action } = act;
      const { type: target_type, id: target_id } = targetOf(act);
      this.logger.log({ event: action, actor_type: actor.type, actor_id, target_type, target_id });
    }
    return result;
  }

  /** Newest first. */
  async list({
    limit,
    after,
    targetId,
    targetType,
    action,
    keepsAndShares,
  }: AuditPage): Promise<{ events: AuditEvent[]; hasMore: boolean }> {
    const kinds = [
      ...(targetType === undefined ? [] : [Equal(targetType)]),
      ...(keepsAndShares === undefined ? [] : [keepsAndShares ? KEPT_OR_SHARED : NEITHER]),
    ];
    const events = await this.events.find({
      where: {
        ...(kinds.length > 0 && { target_type: And(...kinds) }),
        ...(after !== undefined && { id: LessThan(after) }),
        ...(targetId !== undefined && { target_id: targetId }),
        ...(action !== undefined && { action }),
      },
      order: { id: 'desc' },
      take: limit + 1,
    });
    return { events: events.slice(0, limit), hasMore: events.length > limit };
  }

  /** @returns the ids of the API keys that were revoked without `keepTasks` in the last `seconds` */
  async revokedWithTasks(seconds: number): Promise<string[]> {
    const events = await this.events.find({
      select: { target_id: true },
      where: {
        created_at: Raw((column) => `${column} > now() - make_interval(secs => :seconds)`, { seconds }),
        action: 'api_key.revoked',
        after: Raw((column) => `(${column}) ->> 'keep_tasks' = 'false'`),
      },
    });
    return events.map(({ target_id }) => target_id);
  }

  /** Deletes what is older than the retention. @returns the number of events */
  async purge(): Promise<number> {
    const expired = Raw((column) => `${column} < now() - interval '${RETENTION_DAYS} days'`);
    return (await this.events.delete({ created_at: expired })).affected ?? 0;
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import { type Actor, SERVICE } from '../../auth/audit/actor.ts';
import { AuditLog, type RecordAct } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { catalog, findModel } from '../../models/catalog.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import type { Pause } from '../../tasks/record/pause.entity.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import { endDue, endPause, insertPause, lockPauses, openPauses, pagePauses, setModels } from './sql/pause-rows.ts';
import { modelsOf, type ServedModel } from './models-of.ts';
import type { CreatePauseInput } from './pause.inputs.ts';
import { type PauseView, snapshotOf, toPauseView } from './pause.view.ts';

/** The maximum number of open pauses, because every creation, claim and renewal reads them. */
const MAX_OPEN = 100;

const isPauseId = typeIdTest('pause');

/**
 * Lets operators pause a model, a provider, or one place (an address with a credential) of a provider. A change is in
 * force for every claim after its commit.
 */
@Injectable()
export class PausesService {
  constructor(
    private readonly audit: AuditLog,
    private readonly providers: ProviderRegistry,
    private readonly pauses: Pauses,
    private readonly database: DataSource,
  ) {}

  /** Open pauses, newest first. With `ended`, also pauses that have ended. */
  async list(page: {
    limit: number;
    after?: string;
    ended?: boolean;
  }): Promise<{ pauses: PauseView[]; hasMore: boolean }> {
    const { limit, after = null, ended = false } = page;
    const rows = await pagePauses(this.database.manager, { after, ended, limit: limit + 1 });
    return { pauses: rows.slice(0, limit).map(toPauseView), hasMore: rows.length > limit };
  }

  /** @throws ApiError missing_required_parameter, invalid_value, value_out_of_range, too_many_items */
  async create(input: CreatePauseInput, by: Actor): Promise<PauseView> {
    const target = this.targetOf(input);
    const { reason, until } = input;
    const refuse_creates = input.refuse_creates ?? false;
    if (typeof until === 'number' && until * 1000 <= Date.now()) {
      throw new ApiError('value_out_of_range', { param: 'until', message: 'until must be in the future.' });
    }
    const id = typeidUnboxed('pause');
    await this.change(by, async (tx, record) => {
      if ((await openPauses(tx)).length >= MAX_OPEN) {
        throw new ApiError('too_many_items', { message: `${MAX_OPEN} pauses are open, which is the limit.` });
      }
      const created_by = by.caller?.apiKeyId ?? null;
      const pause = await insertPause(tx, {
        id,
        ...target,
        refuse_creates,
        reason,
        until_s: until ?? null,
        created_by,
      });
      await record({
        action: 'pause.created',
        target: { type: 'pause', id },
        before: null,
        after: snapshotOf(pause),
      });
    });
    const created = await this.list({ limit: MAX_OPEN, ended: true });
    return created.pauses.find((pause) => pause.id === id)!;
  }

  /** @throws ApiError pause_not_found */
  async end(id: string, by: Actor): Promise<void> {
    if (!isPauseId(id)) throw new ApiError('pause_not_found');
    await this.change(by, async (tx, record) => {
      const ended = await endPause(tx, id);
      if (!ended) throw new ApiError('pause_not_found');
      await recordEnd(ended, record);
    });
  }

  /** Ends the pauses whose time has come, and updates the models that each open pause stops. */
  async endDue(): Promise<void> {
    const open = await openPauses(this.database.manager);
    const isDue = open.some(({ until }) => until !== null && until.getTime() <= Date.now());
    if (!isDue && !this.differs(open)) return;
    await this.change(SERVICE, async (tx, record) => {
      for (const ended of await endDue(tx)) await recordEnd(ended, record);
    });
  }

  private async change(by: Actor, work: (tx: EntityManager, record: RecordAct) => Promise<void>): Promise<void> {
    await this.audit.transaction(by, async (tx, record) => {
      await lockPauses(tx);
      await work(tx, record);
      await this.divide(tx);
    });
    await this.pauses.changed();
  }

  /** Stores which models each open pause stops. */
  private async divide(tx: EntityManager): Promise<void> {
    const open = await openPauses(tx);
    const models = modelsOf(open, this.served());
    for (const { id, models: before } of open) {
      const now = models.get(id)!;
      if (now.join() !== before.join()) await setModels(tx, id, now);
    }
  }

  private differs(open: readonly Pause[]): boolean {
    if (open.length === 0) return false;
    const models = modelsOf(open, this.served());
    return open.some(({ id, models: before }) => models.get(id)!.join() !== before.join());
  }

  private served(): ServedModel[] {
    return catalog.models.map((model) => ({ id: model.id, bindings: this.providers.bindingsOf(model) }));
  }

  private targetOf({ model, provider, place }: CreatePauseInput): Pick<Pause, 'kind' | 'target' | 'place'> {
    const given = [model, provider, place].filter((each) => each !== undefined && each !== null);
    if (given.length === 0) {
      throw new ApiError('missing_required_parameter', { param: 'model', message: 'Send model, provider or place.' });
    }
    if (given.length > 1) {
      throw new ApiError('invalid_value', {
        param: 'provider',
        message: 'Send only one of model, provider and place.',
      });
    }
    if (typeof model === 'string') {
      if (!findModel(model))
        throw new ApiError('invalid_value', { param: 'model', message: 'There is no such model.' });
      return { kind: 'model', target: model, place: null };
    }
    const { places } = this.providers;
    if (typeof provider === 'string') {
      if (places.some(({ name }) => name === provider)) return { kind: 'provider', target: provider, place: null };
      throw new ApiError('invalid_value', {
        param: 'provider',
        message: 'No model uses a provider of this name.',
      });
    }
    const found = places.find(({ number }) => number === place);
    if (!found)
      throw new ApiError('invalid_value', { param: 'place', message: 'No provider has a place of this number.' });
    return { kind: 'place', target: found.endpoint, place: found.number };
  }
}

const recordEnd = (pause: Pause, record: RecordAct): Promise<void> =>
  record({ action: 'pause.ended', target: { type: 'pause', id: pause.id }, before: snapshotOf(pause), after: null });

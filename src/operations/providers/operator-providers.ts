import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { catalog } from '../../models/catalog.ts';
import { type ProviderPlace, ProviderRegistry } from '../../providers/registry.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import type { ProviderRuns } from '../activity/activity.ts';
import { RecentActivity } from '../processes/recent-activity.ts';
import { addressOf } from '../views/address-of.ts';
import { ProcessesService } from '../processes/processes.service.ts';
import { noteReset } from './sql/circuit-resets.ts';
import { WatchLoad } from '../tasks/sql/watch-load.ts';
import { CircuitResetsWorker } from './circuit-resets.worker.ts';
import type { PlaceModelView, ProviderPlaceView } from './provider-place.view.ts';

const MAX_USERS = 10;

/**
 * The places of providers: each place is an address with a credential. Its number depends on the bindings of this
 * process.
 */
@Injectable()
export class OperatorProviders {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly load: WatchLoad,
    private readonly processes: ProcessesService,
    private readonly pauses: Pauses,
    private readonly activity: RecentActivity,
    private readonly audit: AuditLog,
    private readonly resets: CircuitResetsWorker,
  ) {}

  async list(): Promise<ProviderPlaceView[]> {
    const [inFlight, processes, { runs, passed_over }] = await Promise.all([
      this.load.inFlight(),
      this.processes.list(),
      this.activity.get(),
    ]);
    const seen = processes.filter(({ state }) => state !== 'lost');
    return this.registry.places.map((place) => {
      const { number, name, credential, upstream } = place;
      const here = inFlight.filter(
        (each) => each.provider === name && each.provider_url === upstream.baseUrl && each.credential === credential,
      );
      const users = here.map(({ api_key_id, tasks }) => ({ api_key_id, tasks })).toSorted((a, b) => b.tasks - a.tasks);
      const models = this.modelsOf(place, runs);
      const served = models.map(({ model }) => model);
      const isOpen = (circuits: { place: number; open: boolean }[]) =>
        circuits.some((circuit) => circuit.place === number && circuit.open);
      return {
        place: number,
        object: 'provider_place',
        provider: name,
        ...addressOf(served, upstream.baseUrl, credential),
        credential_present: credential === null || upstream.apiKey !== null,
        models,
        concurrency: place.concurrency,
        in_flight: users.reduce((sum, { tasks }) => sum + tasks, 0),
        users: users.slice(0, MAX_USERS),
        circuit_open_in: seen.filter(({ circuits }) => isOpen(circuits)).map(({ id }) => id),
        error_share: errorShareOf(runs.filter(({ provider }) => provider === name)),
        passed_over: passed_over
          .filter(({ provider }) => provider === name)
          .map(({ reason, count }) => ({ reason, count })),
        pauses: this.pauses.holding(name, place.endpoint),
      };
    });
  }

  /**
   * Closes the circuits of a place in all processes, within 5 s.
   * @throws ApiError place_not_found
   */
  async closeCircuit(number: string, by: Actor): Promise<ProviderPlaceView> {
    const place = this.registry.places.find((each) => String(each.number) === number);
    if (!place) throw new ApiError('place_not_found');
    const found = (await this.list()).find((view) => view.place === place.number)!;
    await this.audit.transaction(by, async (tx, record) => {
      await noteReset(tx, place.endpoint);
      await record({
        action: 'circuit.reset',
        target: { type: 'provider_place', id: number },
        before: { provider: place.name, circuit_open_in: found.circuit_open_in },
        after: { circuit_open_in: [] },
      });
    });
    await this.resets.changed();
    return { ...found, circuit_open_in: [] };
  }

  private modelsOf({ endpoint }: ProviderPlace, runs: readonly ProviderRuns[]): PlaceModelView[] {
    return catalog.models.flatMap((each) => {
      const { id } = each;
      const bindings = this.registry.bindingsOf(each).map((binding, at) => ({ ...binding, position: at + 1 }));
      return bindings
        .filter((binding) => binding.endpoint === endpoint)
        .map(({ name, upstream, position }) => {
          const ran = runs.find(({ model, provider }) => model === id && provider === name);
          return {
            model: id,
            position,
            upstream_model: upstream.model,
            succeeded_last_hour: ran?.succeeded ?? 0,
            failed_last_hour: ran?.failed ?? 0,
            last_error_code: ran?.last_error_code ?? null,
            last_error_at: ran?.last_error_at ?? null,
          };
        });
    });
  }
}

function errorShareOf(runs: readonly ProviderRuns[]): number | null {
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  const all = runs.reduce((sum, run) => sum + run.failed + run.succeeded, 0);
  return all === 0 ? null : failed / all;
}

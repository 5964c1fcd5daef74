import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { catalog } from '../models/catalog.ts';
import { type Fault, textOf } from '../models/declaration/fault.ts';
import { type ModelFolder, nameOfSet } from '../models/declaration/model-folder.ts';
import type { Model } from '../models/definition/model.ts';
import { ModelVersions } from '../models/versions/model-versions.ts';
import { Config } from '../platform/config/config.ts';
import { Reloads } from '../platform/config/reloads.ts';
import { Metrics } from '../platform/observe/measuring/metrics.ts';
import { Interval } from '../platform/run/interval.ts';
import { loadedFolder, MAX_FAULTS, modelsPath, openModelFolder, today } from './bindings/load-models.ts';

/**
 * Watches the folder of the operator's models. All its models replace the earlier ones in one step. If one has a fault,
 * all earlier ones stay.
 */
@Injectable()
export class DeclaredModels implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('models');
  private readonly looks = new Interval(async () => {
    const { modelsWatchS } = this.config;
    const atOnce = this.isAsked;
    this.isAsked = false;
    if (atOnce || modelsWatchS > 0) await this.look(atOnce);
    if (modelsWatchS > 0) return modelsWatchS;
    return this.isAsked ? 1 : DAY_S;
  });
  private readonly renewals = new Interval(async () => {
    try {
      await this.versions.stillLoaded(catalog.models);
    } catch (error) {
      this.logger.error({ event: 'models.not_kept', err: error });
    }
    return RENEW_S;
  });
  /**
   * Whether the next look must read a change at once, as a SIGHUP demands. It is a flag, because no two looks may
   * overlap.
   */
  private isAsked = false;
  private folder: ModelFolder | null = null;
  /** The stamp of the folder when the models in force were read. */
  private inForce: string | null = null;
  /**
   * The stamp at the last look. Without a SIGHUP, a change is read only when two looks in a row find the same stamp, so
   * that no half-written file is read.
   */
  private seen: string | null = null;
  /**
   * The faults of the models that were refused, and the stamp of their folder. The stamp is null if the folder could
   * not be read. `refused` is null if the folder contains the models in force.
   */
  private refused: { stamp: string | null; faults: string } | null = null;
  private loadedAtS = Date.now() / 1000;

  constructor(
    private readonly config: Config,
    private readonly reloads: Reloads,
    private readonly metrics: Metrics,
    private readonly versions: ModelVersions,
  ) {}

  /** Awaited at the start: no task may be created before the version of its model is stored. */
  async onApplicationBootstrap(): Promise<void> {
    await this.putInForce(declaredNow());
    this.metrics.gauge(
      'darkroom_models_declared',
      'Models that the operator has declared.',
      () => declaredNow().length,
    );
    this.metrics.gauge(
      'darkroom_models_rejected',
      'Is 1 while the folder of models holds a set that was refused.',
      () => (this.refused === null ? 0 : 1),
    );
    this.metrics.gauge(
      'darkroom_models_loaded_timestamp_seconds',
      'When the models in force were loaded, in unix seconds.',
      () => this.loadedAtS,
    );
    const loaded = loadedFolder();
    if (loaded) {
      this.folder = loaded.folder;
      this.inForce = this.seen = loaded.stamp;
      this.logLoaded([], declaredNow());
    }
    this.reloads.onHangup(() => {
      this.isAsked = true;
      void this.looks.runNow();
    });
    this.renewals.start(RENEW_S);
    this.looks.start(this.config.modelsWatchS > 0 ? this.config.modelsWatchS : DAY_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.looks.stop(), this.renewals.stop()]);
  }

  /** @param atOnce whether to read a change that no earlier look has seen */
  private async look(atOnce: boolean): Promise<void> {
    const found = await this.changed(atOnce).catch((error: NodeJS.ErrnoException) => {
      const path = modelsPath(this.config) ?? this.folder?.path ?? '';
      const message = `cannot be read (${error.code ?? error.message})`;
      this.reject([{ file: path, line: 1, column: 1, path: 'file', message }], null);
      return null;
    });
    if (!found) return;
    const before = declaredNow();
    try {
      await this.putInForce(found.models);
    } catch (error) {
      // The earlier models stay in force, and the next look tries again.
      this.logger.error({ event: 'models.not_kept', err: error });
      return;
    }
    this.inForce = found.stamp;
    this.refused = null;
    this.loadedAtS = Date.now() / 1000;
    this.logLoaded(before, found.models);
  }

  private openedFolder(): ModelFolder | null {
    const path = modelsPath(this.config);
    if (path === null) return this.folder; // null, or a folder that has gone: reading it fails
    return (this.folder ??= openModelFolder(path, this.config, createdAtOf));
  }

  /**
   * The models that must replace those in force. null if the folder is unchanged, is still being written, or has a
   * fault.
   */
  private async changed(atOnce: boolean): Promise<{ stamp: string; models: Model[] } | null> {
    const folder = this.openedFolder();
    if (!folder) return null;
    const stamp = await folder.stamp();
    if (stamp === this.inForce) {
      this.refused = null;
      return null;
    }
    const isSettled = stamp === this.seen || atOnce;
    this.seen = stamp;
    if (!isSettled || (stamp === this.refused?.stamp && !atOnce)) return null;
    const read = await folder.readWhole(stamp);
    if (!read) {
      this.isAsked ||= atOnce; // the folder changed during each reading, so the next look reads it
      return null;
    }
    this.seen = read.stamp;
    if (read.faults.length === 0) return read;
    this.reject(read.faults, read.stamp);
    return null;
  }

  /**
   * Puts models in force. Their versions are stored before a task can be created with them.
   * @throws Error when the database is unavailable
   */
  private async putInForce(models: readonly Model[]): Promise<void> {
    const loaded = [...catalog.shipped, ...models];
    await this.versions.keep(loaded);
    const first = await this.versions.firstDays();
    for (const model of models) {
      if (!('created' in model.document.declaration)) model.created = first.get(model.id) ?? model.created;
    }
    catalog.declare(models, await this.versions.removed(loaded));
  }

  /**
   * Records that the models of the folder are refused. Logs the faults if they differ from those before.
   * @param stamp null: the folder cannot be read
   */
  private reject(found: readonly Fault[], stamp: string | null): void {
    const faults = found.slice(0, MAX_FAULTS).map(textOf);
    const content = faults.join('\n');
    if (content !== this.refused?.faults) this.logger.warn({ event: 'models.rejected', faults });
    this.refused = { stamp, faults: content };
  }

  private logLoaded(before: readonly Model[], now: readonly Model[]): void {
    const versionIn = (models: readonly Model[], id: string) => models.find((model) => model.id === id)?.version;
    const idsOf = (models: readonly Model[]) => models.map(({ id }) => id);
    this.logger.log({
      event: 'models.loaded',
      count: now.length,
      added: idsOf(now.filter(({ id }) => versionIn(before, id) === undefined)),
      changed: idsOf(now.filter(({ id, version }) => ![undefined, version].includes(versionIn(before, id)))),
      removed: idsOf(before.filter(({ id }) => versionIn(now, id) === undefined)),
      set: nameOfSet(now),
    });
  }
}

/**
 * Seconds between two reports that the loaded versions are in use. The purge deletes a version that no task needs, if
 * it was not reported for a day.
 */
const RENEW_S = 3600;

/** Seconds between two runs of `looks` if the folder is not watched. A run then looks only after a SIGHUP. */
const DAY_S = 86_400;

const declaredNow = (): readonly Model[] => catalog.models.filter(({ declared }) => declared);

/** The unix seconds at which a model was first loaded. A loaded model keeps them, and a new one gets today. */
const createdAtOf = (id: string): number => catalog.find(id)?.created ?? today();

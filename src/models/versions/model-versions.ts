import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { In, Not, type QueryDeepPartialEntity, type Repository } from 'typeorm';
import type { Declaration } from '../declaration/declaration.ts';
import { modelOf } from '../declaration/model-of.ts';
import type { Model } from '../definition/model.ts';
import { ModelVersion } from './model-version.entity.ts';

/** The most versions that `find` keeps in memory. */
const MAX_KNOWN = 500;

/** Keeps in the database every version of a model that tasks may need, because a process may not have its file. */
@Injectable()
export class ModelVersions {
  private readonly known = new LRUCache<string, Model>({ max: MAX_KNOWN });

  constructor(@InjectRepository(ModelVersion) private readonly rows: Repository<ModelVersion>) {}

  /**
   * Stores the models. If a version is stored already, its document is replaced, which updates its descriptions and
   * lifecycle. Await this before tasks of these models can be created.
   */
  async keep(models: readonly Model[]): Promise<void> {
    if (models.length === 0) return;
    const values = models.map(({ id, version, document }) => ({ id, version, document, loaded_at: () => 'now()' }));
    const insert = this.rows.createQueryBuilder().insert();
    // The cast is needed because TypeORM's types read a JSON document as nested columns.
    await insert
      .values(values as QueryDeepPartialEntity<ModelVersion>[])
      .orUpdate(['document', 'loaded_at'], ['id', 'version'])
      .execute();
    for (const { id, version } of models) this.known.delete(keyOf(id, version));
  }

  /** Records that these versions are in use. Stored descriptions stay, because another process may have newer ones. */
  async stillLoaded(models: readonly Model[]): Promise<void> {
    if (models.length === 0) return;
    const loaded = models.map(({ id, version }) => ({ id, version }));
    const renewal = this.rows.createQueryBuilder().update();
    const { affected } = await renewal
      .set({ loaded_at: () => 'now()' })
      .whereInIds(loaded)
      .execute();
    if (affected !== models.length) await this.keep(models); // some versions were purged while this process was stopped
  }

  /** @returns null for a version that was never stored, or that was purged */
  async find(id: string, version: string): Promise<Model | null> {
    const known = this.known.get(keyOf(id, version));
    if (known) return known;
    const row = await this.rows.findOneBy({ id, version });
    const model = row && toModel(row);
    if (model) this.known.set(keyOf(id, version), model);
    return model;
  }

  /** The newest version of each model that is not among the loaded ones, as a retired model. */
  async removed(loaded: readonly Model[]): Promise<Model[]> {
    const rows = await this.rows.find({
      where: loaded.length > 0 ? { id: Not(In(loaded.map(({ id }) => id))) } : {},
      order: { created_at: 'ASC' },
    });
    const newest = new Map(rows.map((row) => [row.id, row]));
    return [...newest.values()].map((row) => withoutFile(toModel(row)));
  }

  /** Unix seconds at the beginning of the day (UTC) on which each model was first loaded. */
  async firstDays(): Promise<Map<string, number>> {
    const rows: { id: string; first: string }[] = await this.rows
      .createQueryBuilder('version')
      .select('version.id', 'id')
      .addSelect('extract(epoch from min(version.created_at))', 'first')
      .groupBy('version.id')
      .getRawMany();
    return new Map(rows.map(({ id, first }) => [id, Math.floor(Number(first) / DAY_S) * DAY_S]));
  }
}

const DAY_S = 86_400;

const keyOf = (id: string, version: string): string => `${id} ${version}`;

function toModel({ document }: Pick<ModelVersion, 'document'>): Model {
  const { declaration, workflows, ...about } = document;
  return modelOf(declaration as unknown as Declaration, { ...about, workflows: new Map(Object.entries(workflows)) });
}

function withoutFile(model: Model): Model {
  return { ...model, dates: { ...model.dates, isRemoved: true } };
}

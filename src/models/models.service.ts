import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { catalog, findModel } from './catalog.ts';
import { ModelAvailability } from './model-availability.ts';
import { ModelHealth } from './model-health.ts';
import { ModelPricing } from './model-pricing.ts';
import type { MediaKind } from './definition/media-kind.ts';
import type { Model } from './definition/model.ts';
import { type Changing, toModelView, type ModelView } from './model.view.ts';

/** The public catalogue. */
@Injectable()
export class ModelsService {
  constructor(
    private readonly availability: ModelAvailability,
    private readonly health: ModelHealth,
    private readonly pricing: ModelPricing,
  ) {}

  /** Every model that is not retired. `find` also returns retired ones. */
  list(): Promise<ModelView[]> {
    return Promise.all(listed().map((model) => this.viewOf(model)));
  }

  /** The REST list as JSON text. @param kind null: models of both kinds */
  async listJson(kind: MediaKind | null = null): Promise<string> {
    const models = listed().filter((model) => kind === null || model.kind === kind);
    const parts = await Promise.all(models.map(async (model) => textOf(model, await this.changing(model))));
    return `{"object":"list","data":[${parts.join()}]}`;
  }

  /** @throws ApiError model_not_found */
  async find(id: string): Promise<ModelView> {
    const model = findModel(id);
    if (!model) throw new ApiError('model_not_found', { param: 'id' });
    return this.viewOf(model);
  }

  private async viewOf(model: Model): Promise<ModelView> {
    return toModelView(model, await this.changing(model));
  }

  private async changing({ id, lifecycle }: Model): Promise<Changing> {
    const available = lifecycle.status !== 'retired' && this.availability.of(id);
    const sandbox = this.availability.inSandbox(id);
    const [health, typical] = await Promise.all([this.health.of(id, available), this.health.typicalOf(id)]);
    return { available, sandbox, health, typical, pricing: this.pricing.of(id) };
  }
}

const listed = (): Model[] => catalog.models.filter(({ lifecycle }) => lifecycle.status !== 'retired');

/** The JSON of a model, whose schema is some 2 kB, and what it was made of. */
const texts = new WeakMap<Model, { key: string; json: string }>();

function textOf(model: Model, changing: Changing): string {
  const key = JSON.stringify([changing, model.lifecycle]);
  const last = texts.get(model);
  if (last?.key === key) return last.json;
  const json = JSON.stringify(toModelView(model, changing));
  texts.set(model, { key, json });
  return json;
}

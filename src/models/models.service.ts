import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { findModel, MODELS } from './catalog.ts';
import { ModelAvailability } from './model-availability.ts';
import { toModelView, type ModelListView, type ModelView } from './model.view.ts';

/** The public catalogue. */
@Injectable()
export class ModelsService {
  /** The last list as JSON. It changes only with the availability of the models. */
  private cached = { available: '', json: '' };

  constructor(private readonly availability: ModelAvailability) {}

  /** Every model that is not retired. `find` also returns retired ones. */
  list(): ModelView[] {
    return listed().map(({ id }) => this.find(id));
  }

  /** The REST list as JSON text. */
  listJson(): string {
    const available = listed()
      .map(({ id }) => this.availability.of(id))
      .join();
    if (this.cached.available !== available) {
      const body: ModelListView = { object: 'list', data: this.list() };
      this.cached = { available, json: JSON.stringify(body) };
    }
    return this.cached.json;
  }

  /** @throws ApiError model_not_found */
  find(id: string): ModelView {
    const model = findModel(id);
    if (!model) throw new ApiError('model_not_found', { param: 'id' });
    return toModelView(model, model.lifecycle.status !== 'retired' && this.availability.of(id));
  }
}

const listed = () => MODELS.filter(({ lifecycle }) => lifecycle.status !== 'retired');

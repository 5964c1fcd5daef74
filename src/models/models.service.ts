import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { findModel, MODELS } from './catalog.ts';
import { ModelAvailability } from './model-availability.ts';
import { toModelView, type ModelListView, type ModelView } from './model.view.ts';

/** The catalogue as clients see it. */
@Injectable()
export class ModelsService {
  /** The last answer, for it changes only with a provider's state: which models it took as available, and its JSON. */
  private last = { available: '', json: '' };

  constructor(private readonly availability: ModelAvailability) {}

  /** Every model that can be asked for; a retired one is only found by its id. */
  list(): ModelView[] {
    return listed().map(({ id }) => this.find(id));
  }

  /** `list` in the form of REST, as text. */
  listJson(): string {
    const available = listed()
      .map(({ id }) => this.availability.of(id))
      .join();
    if (this.last.available !== available) {
      const body: ModelListView = { object: 'list', data: this.list() };
      this.last = { available, json: JSON.stringify(body) };
    }
    return this.last.json;
  }

  /** @throws ApiError model_not_found */
  find(id: string): ModelView {
    const model = findModel(id);
    if (!model) throw new ApiError('model_not_found', { param: 'id' });
    return toModelView(model, model.lifecycle.status !== 'retired' && this.availability.of(id));
  }
}

const listed = () => MODELS.filter(({ lifecycle }) => lifecycle.status !== 'retired');

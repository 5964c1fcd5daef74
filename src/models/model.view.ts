import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';
import { type MediaKind, MediaKindChoice } from './definition/media-kind.ts';
import { capabilitiesOf, ModelCapabilitiesView } from './model-capabilities.view.ts';
import { ModelHealthView } from './model-health.view.ts';
import { ModelTypicalView } from './model-typical.view.ts';
import { ModelPricingView } from './model-pricing.view.ts';
import { lifecycleOf, MODEL_STATUSES, type Lifecycle, type Model } from './definition/model.ts';

const statuses = defineChoice('ModelStatus', MODEL_STATUSES, 'The lifecycle state of a model.');

@ObjectType('ModelLifecycle', { description: 'Deprecation and retirement of a model.' })
export class LifecycleView implements Lifecycle {
  @ApiField.oneOf(statuses, 'a deprecated model still works; a retired one is refused') status: Lifecycle['status'];
  @ApiField.long('unix seconds of the deprecation; null for an active model', { nullable: true }) deprecated_at:
    number | null;
  @ApiField.long('unix seconds of the planned retirement; null when none is announced', { nullable: true })
  sunset_at: number | null;
  @ApiField.string('id of the model to use instead', { nullable: true }) replacement: string | null;
}

/** A model in public form, with everything a client would otherwise have to guess from its id. */
@ObjectType('Model', { description: 'A model and its parameters.' })
export class ModelView {
  @ApiField.string('id of the model in a creation request', { example: 'gpt-image-2' }) id: string;
  @ApiField.constant('model') object: 'model';
  @ApiField.string('who made the model', { example: 'openai' }) owned_by: string;
  @ApiField.oneOf(MediaKindChoice, 'what the model makes') kind: MediaKind;
  @ApiField.long('unix seconds at which the model was added') created: number;
  @ApiField.string('what the model is suited for') description: string;
  @ApiField.json('JSON Schema (2020-12) of a creation request: every allowed value, default and bound')
  parameters: object;
  @ApiField.object(() => ModelCapabilitiesView, 'what the model can do; it follows from its parameters')
  capabilities: ModelCapabilitiesView;
  @ApiField.boolean('true: a model of the operator; false: one that comes with the service') declared: boolean;
  @ApiField.string('version of the declaration; it changes when the same request would mean something else')
  version: string;
  @ApiField.boolean('whether a provider can serve the model now') available: boolean;
  @ApiField.boolean('whether the built-in sandbox serves the model: free, and nothing leaves the service')
  sandbox: boolean;
  @ApiField.object(() => LifecycleView, 'deprecation and retirement of the model') lifecycle: LifecycleView;
  @ApiField.string('the day of the planned retirement, YYYY-MM-DD; null when none is announced', { nullable: true })
  shutdown_date: string | null;
  @ApiField.object(() => ModelHealthView, 'how well the model works now') health: ModelHealthView;
  @ApiField.object(() => ModelTypicalView, 'how long recent tasks took; null if there are fewer than five', {
    nullable: true,
  })
  typical: ModelTypicalView | null;
  @ApiField.object(() => ModelPricingView, "the operator's prices; null without any", { nullable: true })
  pricing: ModelPricingView | null;
}

@ObjectType('ModelList')
export class ModelListView {
  @ApiField.constant('list') object: 'list';
  @ApiField.list(() => ModelView, 'every model that is not retired, the first recommendation first') data: ModelView[];
}

/** The fields that change while the catalogue stays the same. */
export type Changing = Pick<ModelView, 'available' | 'sandbox' | 'health' | 'typical' | 'pricing'>;

export const toModelView = (model: Model, { available, sandbox, health, typical, pricing }: Changing): ModelView => ({
  id: model.id,
  object: 'model',
  owned_by: model.owned_by,
  kind: model.kind,
  created: model.created,
  description: model.description,
  parameters: model.parameters,
  capabilities: capabilitiesOf(model),
  declared: model.declared,
  version: model.version,
  available,
  sandbox,
  lifecycle: lifecycleOf(model),
  shutdown_date: dayOf(model.dates.sunsetAt),
  health,
  typical,
  pricing,
});

const dayOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString().slice(0, 10);

export class ListModelsQuery {
  @ApiField.oneOf(MediaKindChoice, 'only models of this kind', { optional: true }) kind?: MediaKind;
}

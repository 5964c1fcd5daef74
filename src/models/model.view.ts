import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';
import { type MediaKind, MediaKindChoice } from './media-kind.ts';
import { MODEL_STATUSES, type Lifecycle, type Model } from './model.ts';

const statuses = defineChoice('ModelStatus', MODEL_STATUSES, 'Where a model stands in its life.');

@ObjectType('ModelLifecycle', { description: 'Where a model stands in its life.' })
export class LifecycleView implements Lifecycle {
  @ApiField.oneOf(statuses, 'a deprecated model still works, a retired one does not') status: Lifecycle['status'];
  @ApiField.integer('unix seconds since when the model is deprecated', { nullable: true }) deprecated_at: number | null;
  @ApiField.integer('unix seconds at which the model is to be retired', { nullable: true }) sunset_at: number | null;
  @ApiField.string('id of the model to use instead', { nullable: true }) replacement: string | null;
}

/** A model as every client sees it. Spec: id, object, owned_by; the rest so that nobody need guess from the name. */
@ObjectType('Model', { description: 'What can be made, and with which parameters.' })
export class ModelView {
  @ApiField.string('what a creation request calls the model', { example: 'gpt-image-2' }) id: string;
  @ApiField.string('always "model"') object: 'model';
  @ApiField.string('who made the model', { example: 'openai' }) owned_by: string;
  @ApiField.oneOf(MediaKindChoice, 'what the model makes') kind: MediaKind;
  @ApiField.integer('unix seconds: when the model joined this catalogue') created: number;
  @ApiField.string('what the model is good for') description: string;
  @ApiField.json('JSON Schema (2020-12) of a creation request: every allowed value, default and bound')
  parameters: object;
  @ApiField.boolean('whether a provider stands ready to serve it') available: boolean;
  @ApiField.object(() => LifecycleView, 'where the model stands in its life') lifecycle: LifecycleView;
}

@ObjectType('ModelList')
export class ModelListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => ModelView, 'every model, the first recommendation first') data: ModelView[];
}

export const toModelView = (model: Model, available: boolean): ModelView => ({
  id: model.id,
  object: 'model',
  owned_by: model.owned_by,
  kind: model.kind,
  created: model.created,
  description: model.description,
  parameters: model.parameters,
  available,
  lifecycle: model.lifecycle,
});

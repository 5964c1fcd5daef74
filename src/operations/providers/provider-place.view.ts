import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

@ObjectType('PlaceModel', { description: 'A model that a place of a provider serves.' })
export class PlaceModelView {
  @ApiField.string('id of the model') model: string;
  @ApiField.string("the provider's own name for it") upstream_model: string;
}

@ObjectType('PlaceUser', { description: 'An API key with tasks in flight at a place.' })
export class PlaceUserView {
  @ApiField.string('the API key') api_key_id: string;
  @ApiField.integer('its tasks in flight') tasks: number;
}

@ObjectType('ProviderPlace', { description: 'An address and credential of a provider, which models share.' })
export class ProviderPlaceView {
  @ApiField.integer('number of the place, from 1, in the order of the bindings') place: number;
  @ApiField.constant('provider_place') object: 'provider_place';
  @ApiField.string('name of the provider') provider: string;
  @ApiField.string('host that is called; null without one', { nullable: true }) host: string | null;
  @ApiField.string('name of the variable that holds its key; null without one', { nullable: true })
  credential: string | null;
  @ApiField.list(() => PlaceModelView, 'the models that it serves') models: PlaceModelView[];
  @ApiField.integer('most tasks in flight; null: no limit', { nullable: true }) concurrency: number | null;
  @ApiField.integer('tasks in flight, over all processes') in_flight: number;
  @ApiField.list(() => PlaceUserView, 'whose they are: the ten keys with most of them') users: PlaceUserView[];
  @ApiField.list('string', 'the processes that do not call it for the moment') circuit_open_in: string[];
  @ApiField.list('string', 'the pauses that keep tasks from it') pauses: string[];
}

import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

const NULLABLE = { nullable: true };
const NULL_WHERE = 'null without one, and where only models of the MODELS folder are served';

@ObjectType('PlaceModel', { description: 'A model that a place of a provider serves.' })
export class PlaceModelView {
  @ApiField.string('id of the model') model: string;
  @ApiField.integer('rank among the bindings of the model, from 1: the order in which they are tried') position: number;
  @ApiField.string("the provider's own name for it") upstream_model: string;
  @ApiField.integer('tasks of it that succeeded at the provider in the last hour') succeeded_last_hour: number;
  @ApiField.integer('tasks of it that failed there in the last hour, without cancels and refused content')
  failed_last_hour: number;
  @ApiField.string('code of the last of these failures', NULLABLE) last_error_code: string | null;
  @ApiField.long('unix seconds', NULLABLE) last_error_at: number | null;
}

@ObjectType('PlaceUser', { description: 'An API key with tasks in flight at a place.' })
export class PlaceUserView {
  @ApiField.string('the API key') api_key_id: string;
  @ApiField.integer('its tasks in flight') tasks: number;
}

@ObjectType('PassedOver', {
  description: 'How often a provider did not serve a task, so that the next provider was tried.',
})
export class PassedOverView {
  @ApiField.string('full, circuit_open, unsupported, or the code of the error') reason: string;
  @ApiField.integer('in the last hour') count: number;
}

@ObjectType('ProviderPlace', { description: 'An address and credential of a provider, which models share.' })
export class ProviderPlaceView {
  @ApiField.integer('number of the place, from 1, in the order of the bindings') place: number;
  @ApiField.constant('provider_place') object: 'provider_place';
  @ApiField.string('name of the provider') provider: string;
  @ApiField.string(`host that is called; ${NULL_WHERE}`, NULLABLE) host: string | null;
  @ApiField.string(`name of the variable that holds its key; ${NULL_WHERE}`, NULLABLE) credential: string | null;
  @ApiField.boolean('whether that variable has a value; true if no key is needed') credential_present: boolean;
  @ApiField.list(() => PlaceModelView, 'the models that it serves') models: PlaceModelView[];
  @ApiField.integer('most tasks in flight; null: no limit', NULLABLE) concurrency: number | null;
  @ApiField.integer('tasks in flight, over all processes') in_flight: number;
  @ApiField.list(() => PlaceUserView, 'the ten API keys with the most tasks in flight here') users: PlaceUserView[];
  @ApiField.list('string', 'the processes that have stopped calling it for now') circuit_open_in: string[];
  @ApiField.number(
    'part of the tasks of the provider that failed in the last hour, 0 to 1; null: none has ended',
    NULLABLE,
  )
  error_share: number | null;
  @ApiField.list(() => PassedOverView, 'why the provider did not serve tasks in the last hour')
  passed_over: PassedOverView[];
  @ApiField.list('string', 'the pauses that keep tasks from it') pauses: string[];
}

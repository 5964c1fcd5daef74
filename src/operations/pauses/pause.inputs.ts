import { InputType } from '@nestjs/graphql';
import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { MAX_REASON } from '../views/reason.input.ts';

const MAX_PAGE = 100;

@InputType('CreatePauseInput', { description: 'What to pause: exactly one of model, provider and place.' })
export class CreatePauseInput {
  @ApiField.string('id of a model', { ...OMITTABLE, max: 100 }) model?: string | null;
  @ApiField.string('name of a provider', { ...OMITTABLE, max: 100 }) provider?: string | null;
  @ApiField.integer('number of a place, as in the list of providers', { ...OMITTABLE, min: 1 })
  place?: number | null;
  @ApiField.string('why, for other operators', { min: 1, max: MAX_REASON }) reason: string;
  @ApiField.long('unix seconds at which it ends by itself', { optional: true, nullable: true, max: MAX_UNIX_S })
  until?: number | null;
  @ApiField.boolean(
    'whether creations for the models that cannot start are refused with 503; false when left out',
    OMITTABLE,
  )
  refuse_creates?: boolean | null;
}

/** Query string of `GET /v1/operations/pauses`. */
export class ListPausesQuery {
  @ApiField.integer('pauses per page', { optional: true, min: 1, max: MAX_PAGE, default: 20, fromQuery: true })
  limit?: number;
  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: typeIdPattern('pause'), message: 'after must be the id of a pause' },
  })
  after?: string;
  @ApiField.string('`true`: also those that have ended', {
    optional: true,
    pattern: { regex: /^(true|false)$/, message: 'ended must be true or false' },
  })
  ended?: string;
}

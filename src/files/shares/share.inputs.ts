import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';

export const MAX_SHARED = 8;
const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;

@InputType('CreateShareInput', { description: 'A page of some files for people without a key.' })
export class CreateShareInput {
  @ApiField.list('string', 'pictures and films of yours, in the order of the page', {
    min: 1,
    max: MAX_SHARED,
    unique: true,
  })
  file_ids: string[];

  @ApiField.long('unix seconds; nobody can open the page after this time. At most 365 days from now', { min: 1 })
  expires_at: number;

  @ApiField.boolean('whether the page shows the prompts; not when left out', { optional: true, nullIsOmitted: true })
  show_prompt?: boolean;
}

export class ListSharesQuery {
  @ApiField.integer('shares per page', {
    optional: true,
    min: 1,
    max: MAX_PAGE,
    default: DEFAULT_PAGE,
    fromQuery: true,
  })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: typeIdPattern('share'), message: 'after must be the id of a share' },
  })
  after?: string;
}

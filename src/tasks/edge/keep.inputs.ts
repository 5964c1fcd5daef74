import { Args } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_COLLECTION_CHARACTERS } from '../record/stars.ts';

/** Body of `PUT …/keep`. */
export class KeepInput {
  @ApiField.string('the name under which it is kept; none when left out', {
    optional: true,
    nullable: true,
    min: 1,
    max: MAX_COLLECTION_CHARACTERS,
  })
  collection?: string | null;
}

/** The argument `collection` of a mutation. */
export const Collection = (): ParameterDecorator =>
  Args('collection', {
    type: () => String,
    nullable: true,
    description: `the name under which it is kept, at most ${MAX_COLLECTION_CHARACTERS} characters; none when left out`,
  });

import { Args } from '@nestjs/graphql';
import { MAX_COLLECTION_CHARACTERS } from '../record/stars.ts';

/** The argument `collection` of a mutation. */
export const Collection = (): ParameterDecorator =>
  Args('collection', {
    type: () => String,
    nullable: true,
    description: `the name under which it is kept, at most ${MAX_COLLECTION_CHARACTERS} characters; none when left out`,
  });

import { Args } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { MAX_COLLECTION_CHARACTERS } from '../record/stars.ts';

/** The argument `collection` of a mutation. */
export const Collection = (): ParameterDecorator =>
  Args('collection', {
    type: () => String,
    nullable: true,
    description: `the name under which it is kept, at most ${MAX_COLLECTION_CHARACTERS} characters; none when left out`,
  });

/** @throws ApiError string_too_long, invalid_value, as REST */
export function checkedCollection(name: string | null | undefined): string | null {
  if (name === undefined || name === null) return null;
  if (name.trim() === '' || /\p{Cc}/u.test(name)) {
    const message = 'collection must be a name, without control characters.';
    throw new ApiError('invalid_value', { param: 'collection', message });
  }
  if (Array.from(name).length <= MAX_COLLECTION_CHARACTERS) return name;
  const message = `collection must have at most ${MAX_COLLECTION_CHARACTERS} characters.`;
  throw new ApiError('string_too_long', { param: 'collection', message });
}

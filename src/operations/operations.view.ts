import { ObjectType } from '@nestjs/graphql';

/** Its fields are in the resolvers of the folders of this room. */
@ObjectType('Operations', {
  description: 'What an operator sees, over all API keys. Nothing of it is the content of a task.',
})
export class OperationsView {}

/** Every field reads by itself, so that a client pays for what it asks for. */
export const OPERATIONS = new OperationsView();

import { ObjectType } from '@nestjs/graphql';

/** The resolvers in the folders of src/operations add the fields. */
@ObjectType('Operations', {
  description: 'What an operator sees, over all API keys. It never contains the content of a task.',
})
export class OperationsView {}

/** An empty object, because each field has its own resolver. So a request costs only what it asks for. */
export const OPERATIONS = new OperationsView();

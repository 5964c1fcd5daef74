import { Field, ID, InterfaceType } from '@nestjs/graphql';

/** Any object with a global id. `__typename` is the name of its type in the schema. */
@InterfaceType('Node', {
  description: 'An object that `node` finds by its id, for Relay and other clients with a cache.',
  resolveType: ({ __typename }: { __typename: string }) => __typename,
})
export abstract class NodeView {
  @Field(() => ID, { description: 'identifier, unique among the objects of all types' }) id: string;
}

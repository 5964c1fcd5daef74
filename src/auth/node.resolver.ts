import { Args, ID, Query, Resolver } from '@nestjs/graphql';
import { NodeView } from '../platform/graphql/node.view.ts';
import { CurrentCaller } from './access/access.ts';
import type { Caller } from './access/caller.ts';
import { Nodes } from './access/nodes.ts';

@Resolver()
export class NodeResolver {
  constructor(private readonly nodes: Nodes) {}

  @Query(() => NodeView, {
    nullable: true,
    description: 'An object by its id, with the scope that the query of its type needs; null if there is none.',
  })
  node(
    @CurrentCaller() caller: Caller,
    @Args('id', { type: () => ID, description: 'identifier of the object' }) id: string,
  ): Promise<object | null> {
    return this.nodes.find(caller, id);
  }
}

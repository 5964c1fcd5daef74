import type { PipeTransform } from '@nestjs/common';
import { Args, Int, ObjectType } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { ApiField } from '../schema/api-field.ts';

/** One page of a list, as Relay reads it. */
export interface Connection<Node> {
  edges: Edge<Node>[];
  page_info: PageInfo;
}

interface Edge<Node> {
  cursor: string;
  node: Node;
}

@ObjectType('PageInfo', { description: 'Where a page stands in its list.' })
export class PageInfo {
  @ApiField.boolean('whether more follow after this page') has_next_page: boolean;
  @ApiField.boolean('whether there are some before this page') has_previous_page: boolean;
  @ApiField.string('cursor of the first edge; null on an empty page', { nullable: true }) start_cursor: string | null;
  @ApiField.string('cursor of the last edge: give it as `after` for the next page; null on an empty page', {
    nullable: true,
  })
  end_cursor: string | null;
}

/**
 * Makes the GraphQL type of a page: `connectionOf(TaskView, 'Task')` is `TaskConnection` of `TaskEdge`s.
 * Once a type only, as names are unique in a schema.
 */
export function connectionOf<Node extends object>(node: new () => Node, name: string): new () => Connection<Node> {
  @ObjectType(`${name}Edge`, { description: `A ${name} and its place in the list.` })
  class NodeEdge {
    @ApiField.string('place in the list, for `after`') cursor: string;
    @ApiField.object(() => node, 'what stands at this place') node: Node;
  }
  @ObjectType(`${name}Connection`, { description: `A page of a list of ${name}.` })
  class NodeConnection {
    @ApiField.list(() => NodeEdge, 'the entries of this page, in order') edges: NodeEdge[];
    @ApiField.object(() => PageInfo, 'where this page stands in the list') page_info: PageInfo;
  }
  return NodeConnection;
}

/**
 * @param after the cursor that was asked for; it names an entry, so with one there is something before this page
 */
export function toConnection<Node>(
  nodes: readonly Node[],
  cursorOf: (node: Node) => string,
  { hasMore, after }: { hasMore: boolean; after: string | null | undefined },
): Connection<Node> {
  const edges = nodes.map((node) => ({ cursor: cursorOf(node), node }));
  return {
    edges,
    page_info: {
      has_next_page: hasMore,
      has_previous_page: typeof after === 'string',
      start_cursor: edges.at(0)?.cursor ?? null,
      end_cursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

export const DEFAULT_PAGE = 20;
export const MAX_PAGE = 100;

class PageSizePipe implements PipeTransform<number | null | undefined, number> {
  transform(first: number | null | undefined): number {
    const size = first ?? DEFAULT_PAGE;
    if (size >= 1 && size <= MAX_PAGE) return size;
    throw new ApiError('value_out_of_range', { param: 'first', message: `first must be from 1 to ${MAX_PAGE}.` });
  }
}

/** The argument `first` of a connection: 1 to 100, 20 when left out or null. */
export const First = (): ParameterDecorator =>
  Args(
    'first',
    {
      type: () => Int,
      nullable: true,
      defaultValue: DEFAULT_PAGE,
      description: `entries on the page, 1 to ${MAX_PAGE}`,
    },
    new PageSizePipe(),
  );

/** The argument `after` of a connection: text, undefined or null. */
export const After = (): ParameterDecorator =>
  Args('after', { type: () => String, nullable: true, description: '`endCursor` of the page before' });

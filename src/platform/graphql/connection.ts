import type { PipeTransform } from '@nestjs/common';
import { Args, Int, ObjectType } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { ApiField } from '../schema/api-field.ts';

/** One page of a list, in the form of the Relay specification. */
export interface Connection<Node> {
  edges: Edge<Node>[];
  page_info: PageInfo;
}

interface Edge<Node> {
  cursor: string;
  node: Node;
}

@ObjectType('PageInfo', { description: 'The position of a page in its list.' })
export class PageInfo {
  @ApiField.boolean('whether more entries follow this page') has_next_page: boolean;
  @ApiField.boolean('whether entries precede this page') has_previous_page: boolean;
  @ApiField.string('cursor of the first edge; null on an empty page', { nullable: true }) start_cursor: string | null;
  @ApiField.string('cursor of the last edge: pass it as `after` to get the next page; null on an empty page', {
    nullable: true,
  })
  end_cursor: string | null;
}

/**
 * Makes the GraphQL type of a page: `connectionOf(TaskView, 'Task')` is `TaskConnection` with `TaskEdge`s.
 * Call this once per type, because the names of types are unique in a schema.
 */
export function connectionOf<Node extends object>(node: new () => Node, name: string): new () => Connection<Node> {
  @ObjectType(`${name}Edge`, { description: `${articleOf(name)} ${name} and its position in the list.` })
  class NodeEdge {
    @ApiField.string('position in the list, for `after`') cursor: string;
    @ApiField.object(() => node, 'the entry at this position') node: Node;
  }
  @ObjectType(`${name}Connection`, { description: `A page of a list of ${name} objects.` })
  class NodeConnection {
    @ApiField.list(() => NodeEdge, 'the entries of this page, in order') edges: NodeEdge[];
    @ApiField.object(() => PageInfo, 'the position of this page in the list') page_info: PageInfo;
  }
  return NodeConnection;
}

const articleOf = (name: string): string => (/^[AEIOU]/.test(name) ? 'An' : 'A');

/** @param after the requested cursor, which names an entry: this entry precedes the page */
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

/** The argument `first` of a connection: 1 to 100; 20 when omitted or null. */
export const First = (): ParameterDecorator =>
  Args(
    'first',
    {
      type: () => Int,
      nullable: true,
      defaultValue: DEFAULT_PAGE,
      description: `entries per page, 1 to ${MAX_PAGE}`,
    },
    new PageSizePipe(),
  );

/** The argument `after` of a connection: a string, undefined or null. */
export const After = (): ParameterDecorator =>
  Args('after', { type: () => String, nullable: true, description: '`endCursor` of the previous page' });

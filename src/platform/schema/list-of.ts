import { ApiField } from './api-field.ts';

/** A page of a REST list. */
export interface List<View> {
  object: 'list';
  data: View[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

/**
 * Makes the base class of a REST list: `class TaskListView extends listOf(TaskView, 'the tasks') {}`. OpenAPI names the
 * schema after the class that extends the base class. GraphQL has `connectionOf` instead.
 */
export function listOf<View extends object>(view: new () => View, note: string): new () => List<View> {
  class ListView implements List<View> {
    @ApiField.constant('list') object: 'list';
    @ApiField.list(() => view, note) data: View[];
    @ApiField.boolean('whether an older page follows') has_more: boolean;
    @ApiField.string('id of the first entry; null in an empty list', { nullable: true }) first_id: string | null;
    @ApiField.string('id of the last entry; send it as `after` for the next page; null in an empty list', {
      nullable: true,
    })
    last_id: string | null;
  }
  return ListView;
}

export function toList<View>(data: View[], hasMore: boolean, idOf: (view: View) => string): List<View> {
  const ids = data.map(idOf);
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: ids.at(0) ?? null,
    last_id: ids.at(-1) ?? null,
  };
}

/** The JSON text of a list, from the JSON texts of its entries. It is the text that the list of `toList` would have. */
export function jsonOfList(data: string[], hasMore: boolean, ids: string[]): string {
  const { data: _data, object, ...rest } = toList(ids, hasMore, (id) => id);
  return `{"object":${JSON.stringify(object)},"data":[${data.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

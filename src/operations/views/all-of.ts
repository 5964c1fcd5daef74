import { ApiField } from '../../platform/schema/api-field.ts';

/** A REST list that is short and therefore never paged. */
export interface All<View> {
  object: 'list';
  data: View[];
  has_more: boolean;
}

/** Makes the base class of a list that is never paged. `listOf` does this for paged lists. */
export function allOf<View extends object>(view: new () => View, note: string): new () => All<View> {
  class AllView implements All<View> {
    @ApiField.constant('list') object: 'list';
    @ApiField.list(() => view, note) data: View[];
    @ApiField.boolean('always false') has_more: boolean;
  }
  return AllView;
}

export const toAll = <View>(data: View[]): All<View> => ({ object: 'list', data, has_more: false });

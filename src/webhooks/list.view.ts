/** One page of items that have an id, as REST returns it. */
export const toListView = <View extends { id: string }>(data: View[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  has_more,
  first_id: data.at(0)?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
});

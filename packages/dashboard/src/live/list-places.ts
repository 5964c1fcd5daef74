/**
 * What a list showed at an entry of the history. With this, Back leads to the same rows and to the row that had the
 * focus.
 */
export interface ListPlace<Pages> {
  /** The filter of the list. */
  filter: string;
  pages: Pages;
  focusId: string | null;
}

/** At most this many entries of the history are remembered. The oldest are dropped first. */
const MAX_PLACES = 20;
const places = new Map<string, ListPlace<unknown>>();

/** The key by which the router names the present entry of the history. */
const entry = (): string => String((history.state as { __TSR_key?: unknown } | null)?.__TSR_key ?? '');

export function rememberPlace<Pages>(
  list: string,
  place: Omit<ListPlace<Pages>, 'focusId'> & { focusId?: string },
): void {
  const name = `${list} ${entry()}`;
  const focusId = place.focusId ?? places.get(name)?.focusId ?? null;
  places.delete(name);
  places.set(name, { ...place, focusId });
  if (places.size > MAX_PLACES) places.delete(places.keys().next().value ?? '');
}

export function placeOf<Pages>(list: string, filter: string): ListPlace<Pages> | null {
  const place = places.get(`${list} ${entry()}`) as ListPlace<Pages> | undefined;
  return place?.filter === filter ? place : null;
}

/** Called when another API key signs in or the user signs out, because nothing of one key may be shown to another. */
export const forgetPlaces = (): void => places.clear();

/** An id shortened in the middle: the prefix, six characters, and the last four. A short id stays whole. */
export function shortId(id: string): string {
  const cut = id.indexOf('_') + 1;
  return id.length <= cut + 12 ? id : `${id.slice(0, cut + 6)}…${id.slice(-4)}`;
}

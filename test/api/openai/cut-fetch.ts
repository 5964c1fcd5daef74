/** When a connection is cut. `reach` resolves at that moment; `answer` cuts in the middle of the response's body. */
export type CutAt = { reach: () => Promise<unknown> } | 'answer';

/** A fetch whose first connections break, each at its planned moment, as those of a proxy that gives up do. */
export function cutFetch(...cuts: CutAt[]): typeof fetch {
  const planned = [...cuts];
  return async (input, init) => {
    // Before a form the client asks for a `data:` URL, to learn what this fetch can do.
    const cut = String(input).startsWith('data:') ? undefined : planned.shift();
    if (cut === undefined) return fetch(input, init);
    const abort = new AbortController();
    const sent = fetch(input, { ...init, signal: abort.signal });
    sent.catch(() => undefined);
    if (cut === 'answer') {
      const { body } = await sent;
      await body!.getReader().read();
    } else await cut.reach();
    abort.abort();
    throw new TypeError('terminated');
  };
}

/** A value outside of React components. `useSyncExternalStore` takes its `subscribe` and `get`. */
interface Store<Value> {
  get(): Value;
  set(next: Value): void;
  /** Calls the listener after each change of the value, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export function createStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

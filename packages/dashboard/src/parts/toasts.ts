import { createStore } from '../store.ts';

/** A short message about what an action did. A failed read gets no message, because its error replaces the data. */
export interface Report {
  id: number;
  text: string;
  bad: boolean;
}

const SHOWN_MS = 6_000;
const reports = createStore<readonly Report[]>([]);
export const { get: currentReports, subscribe: onReports } = reports;
let nextId = 1;

function show(text: string, bad: boolean): number {
  const id = nextId++;
  reports.set([...reports.get().slice(-2), { id, text, bad }]);
  return id;
}

export function report(text: string, bad = false): void {
  const id = show(text, bad);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Shows a message until the returned function is called, somebody dismisses it, or three newer ones push it out. */
export function reportWhile(text: string): () => void {
  const id = show(text, false);
  return () => dismiss(id);
}

export const dismiss = (id: number): void => reports.set(reports.get().filter((each) => each.id !== id));

/** Short messages about what an action did. Reads that fail are shown in place of their data instead. */
export interface Report {
  id: number;
  text: string;
  bad: boolean;
}

const SHOWN_MS = 6_000;
let reports: readonly Report[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

export const currentReports = (): readonly Report[] => reports;

export function onReports(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: readonly Report[]): void {
  reports = next;
  for (const listener of listeners) listener();
}

function show(text: string, bad: boolean): number {
  const id = nextId++;
  set([...reports.slice(-2), { id, text, bad }]);
  return id;
}

export function report(text: string, bad = false): void {
  const id = show(text, bad);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Shows a message until the returned function is called. */
export function reportWhile(text: string): () => void {
  const id = show(text, false);
  return () => dismiss(id);
}

export const dismiss = (id: number): void => set(reports.filter((each) => each.id !== id));

/** Short reports of what an action did. Reads that fail are shown in place instead. */
export interface Report {
  id: number;
  text: string;
  bad: boolean;
  /** What the reader can do about it. Such a report stays until it is dismissed. */
  act?: { label: string; run(): void };
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

export function report(text: string, bad = false): void {
  const id = nextId++;
  set([...reports.slice(-2), { id, text, bad }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** One of each text: what offers an act may happen again and again. */
export function offer(text: string, act: NonNullable<Report['act']>): void {
  if (reports.some((each) => each.text === text)) return;
  set([...reports.slice(-2), { id: nextId++, text, bad: false, act }]);
}

export const dismiss = (id: number): void => set(reports.filter((each) => each.id !== id));

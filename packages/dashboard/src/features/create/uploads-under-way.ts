/** The uploads for the form, counted apart from the code that sends them, which is loaded late. */
export interface UploadCount {
  running: number;
  /** How many did not arrive since the page was loaded. */
  failed: number;
}

let count: UploadCount = { running: 0, failed: 0 };
const listeners = new Set<() => void>();

export const uploadCount = (): UploadCount => count;

export function onUploadCount(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: UploadCount): void {
  count = next;
  for (const listener of listeners) listener();
}

/**
 * Counts work as one upload until it ends.
 * @param work resolves to whether everything arrived in the form
 */
export async function asUpload(work: () => Promise<boolean>): Promise<boolean> {
  set({ ...count, running: count.running + 1 });
  let arrived = false;
  try {
    return (arrived = await work());
  } finally {
    set({ running: count.running - 1, failed: count.failed + (arrived ? 0 : 1) });
  }
}

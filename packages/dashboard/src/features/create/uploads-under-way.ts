import { createStore } from '../../store.ts';

/**
 * The number of uploads. The code that sends uploads is in another module, because the page needs that code only later.
 */
export interface UploadCount {
  running: number;
  /** How many have failed since the page was loaded. */
  failed: number;
}

const count = createStore<UploadCount>({ running: 0, failed: 0 });
export const { get: uploadCount, subscribe: onUploadCount } = count;

function add(running: number, failed: number): void {
  const before = count.get();
  count.set({ running: before.running + running, failed: before.failed + failed });
}

/**
 * Counts `work` as one running upload until `work` ends.
 * @param work resolves to whether everything arrived in the form
 */
export async function asUpload(work: () => Promise<boolean>): Promise<boolean> {
  add(1, 0);
  let arrived = false;
  try {
    return (arrived = await work());
  } finally {
    add(-1, arrived ? 0 : 1);
  }
}

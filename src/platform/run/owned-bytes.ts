/** Buffers of which nobody but their owner keeps a reference. */
const owned = new WeakSet<object>();

/**
 * Allocates an uninitialised buffer, which its owner frees after use. V8 collects large buffers late, and each 64 MB of
 * them start a full collection of the heap. These collections took more processor time than all other work on a picture
 * of 1.5 MB.
 */
export function allocateOwned(bytes: number): Buffer {
  return own(Buffer.allocUnsafeSlow(bytes));
}

/** @param part of a buffer of `allocateOwned`; this part is owned from now on */
export function own(part: Buffer): Buffer {
  owned.add(part);
  return part;
}

/** Frees the memory of an owned buffer, which is empty afterwards. Anything else is left to the garbage collector. */
export function free(value: object): void {
  if (owned.delete(value)) ((value as Buffer).buffer as ArrayBuffer).transfer(0);
}

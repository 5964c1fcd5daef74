import { useState } from 'react';

/** Runs one action at a time, and keeps the error of the last one. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  async function act(work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The call failed.');
    }
    setBusy(false);
  }
  return { busy, fault, act };
}

import { useRef } from 'react';
import { asCallError } from '../../api/errors.ts';
import { SAME_PRESS_MS } from '../../keys/same-press.ts';
import { resendEvent } from '../../live/resend-event.ts';
import { report } from '../../parts/toasts.ts';

/** @returns a function that sends an event again, to one endpoint or to all, and reports the answers */
export function useResend(onSent: () => void): (eventId: string, endpointId: string | null) => Promise<void> {
  const underWay = useRef(new Set<string>());
  const pressedAt = useRef(-SAME_PRESS_MS);
  return async (id, endpointId) => {
    const press = `${id} ${endpointId}`;
    // The second click of a double click may hit another event, because the list moves once an event is sent.
    if (underWay.current.has(press) || performance.now() - pressedAt.current < SAME_PRESS_MS) return;
    pressedAt.current = performance.now();
    underWay.current.add(press);
    try {
      const { text, bad } = await resendEvent(id, endpointId, onSent);
      report(text, bad);
      onSent();
    } catch (error) {
      report(asCallError(error).message, true);
    }
    underWay.current.delete(press);
  };
}

import { asCallError } from '../../api/errors.ts';
import { resendEvent } from '../../live/resend-event.ts';
import { report } from '../../parts/toasts.ts';

/** @returns a function that sends an event again, to one endpoint or to all, and reports the answers */
export function useResend(onSent: () => void): (eventId: string, endpointId: string | null) => Promise<void> {
  return async (id, endpointId) => {
    try {
      const { text, bad } = await resendEvent(id, endpointId, onSent);
      report(text, bad);
      onSent();
    } catch (error) {
      report(asCallError(error).message, true);
    }
  };
}

import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { plural } from '../../format/numbers.ts';
import { report } from '../../parts/toasts.ts';
import { ResendEvent } from './webhooks.documents.ts';

/** @returns sends an event again, to one endpoint or to all, and says so */
export function useResend(onSent: () => void): (eventId: string, endpointId: string | null) => Promise<void> {
  return async (id, endpointId) => {
    try {
      const { endpoints } = (await mutate(ResendEvent, { id, endpointId })).redeliverWebhookEvent;
      if (endpoints === 0) report('No enabled endpoint takes this event.', true);
      else report(`The event is sent again to ${plural(endpoints, 'endpoint')}.`);
      onSent();
    } catch (error) {
      report(asCallError(error).message, true);
    }
  };
}

import { useSyncExternalStore } from 'react';
import { announcement, onAnnouncement } from '../../live/announcer.ts';

/** The only element whose changes tell screen readers about the progress of tasks. */
export function LiveRegion() {
  const text = useSyncExternalStore(onAnnouncement, announcement);
  return (
    <div className="visually-hidden" role="status" aria-label="Progress" data-live>
      {text}
    </div>
  );
}

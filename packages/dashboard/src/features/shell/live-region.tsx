import { useSyncExternalStore } from 'react';
import { announcement, onAnnouncement } from '../../live/announcer.ts';

/** The one element in which screen readers hear the progress of tasks. */
export function LiveRegion() {
  const text = useSyncExternalStore(onAnnouncement, announcement);
  return (
    <div className="visually-hidden" role="status" aria-label="Progress" data-live>
      {text}
    </div>
  );
}

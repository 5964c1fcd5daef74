import { useSyncExternalStore } from 'react';
import { announcement, onAnnouncement } from '../../live/announcer.ts';

/** The one place where screen readers hear how tasks go. */
export function LiveRegion() {
  const text = useSyncExternalStore(onAnnouncement, announcement);
  return (
    <div className="visually-hidden" role="status" aria-label="Progress" data-live>
      {text}
    </div>
  );
}

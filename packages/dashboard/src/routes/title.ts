import { useEffect } from 'react';

/** The title of the window: `what · Darkroom`. */
export function useTitle(what: string): void {
  useEffect(() => {
    document.title = `${what} · Darkroom`;
  }, [what]);
}

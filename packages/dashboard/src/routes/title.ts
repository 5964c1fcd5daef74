import { useEffect } from 'react';

export function useTitle(what: string): void {
  useEffect(() => {
    document.title = `${what} · Darkroom`;
  }, [what]);
}

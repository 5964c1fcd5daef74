import { Maximize, ZoomIn, ZoomOut } from 'lucide-react';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Button } from '../parts/button.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import type { Zoom } from './use-placement.ts';

/** Zoom by buttons and by keys. */
export function ZoomBar({ zoom }: { zoom: Zoom }) {
  useShortcuts({ '+': zoom.in, '-': zoom.out, '0': zoom.fit, '1': zoom.full });
  return (
    <>
      <IconButton label="Zoom out" shortcut="-" onClick={zoom.out}>
        <ZoomOut />
      </IconButton>
      <IconButton label="Zoom in" shortcut="+" onClick={zoom.in}>
        <ZoomIn />
      </IconButton>
      <IconButton label="Fit" shortcut="0" onClick={zoom.fit}>
        <Maximize />
      </IconButton>
      <Button variant="quiet" title="Full size (1)" onClick={zoom.full}>
        100 %
      </Button>
    </>
  );
}

import { ZoomIn, ZoomOut } from 'lucide-react';
import { percent } from '../format/numbers.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { MenuButton } from '../parts/menu-button.tsx';
import type { Zoom } from './use-placement.ts';

/** The present zoom, and buttons and keys for other sizes. */
export function ZoomBar({ zoom }: { zoom: Zoom }) {
  useShortcuts({ '+': zoom.in, '-': zoom.out, '0': zoom.fit, '1': () => zoom.to(1), '2': () => zoom.to(2) });
  const now = zoom.shown === null ? '–' : percent(zoom.shown);
  return (
    <>
      <IconButton label="Zoom out" shortcut="-" onClick={zoom.out}>
        <ZoomOut />
      </IconButton>
      <MenuButton
        label={`Zoom: ${now}`}
        variant="quiet"
        trigger={now}
        items={[
          { label: 'Fit (0)', onSelect: zoom.fit },
          { label: '100 % (1)', onSelect: () => zoom.to(1) },
          { label: '200 % (2)', onSelect: () => zoom.to(2) },
        ]}
      />
      <IconButton label="Zoom in" shortcut="+" onClick={zoom.in}>
        <ZoomIn />
      </IconButton>
    </>
  );
}

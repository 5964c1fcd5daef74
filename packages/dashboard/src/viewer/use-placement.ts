import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { bounded, FIT, type Placement, zoomAt } from './pan-zoom.ts';

/** The factor by which one press of a button zooms. */
const STEP = 1.25;
/** Pixels by which an arrow key moves a zoomed picture. */
const ARROW = 48;

export interface Zoom {
  placement: Placement;
  /** How many pixels of the screen one pixel of the (first) picture takes; null: no picture is loaded yet. */
  shown: number | null;
  in(): void;
  out(): void;
  fit(): void;
  /** Zooms so that one pixel of the picture takes this many pixels of the screen. */
  to(zoom: number): void;
  pan(x: number, y: number): void;
  /**
   * Moves a zoomed picture by an arrow key. False: the picture fits its frame or the key is no arrow, so the key may do
   * something else.
   */
  arrow(key: string): boolean;
  handlers: Record<
    'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel',
    (event: PointerEvent) => void
  >;
  onDoubleClick(): void;
}

const ARROWS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [ARROW, 0],
  ArrowRight: [-ARROW, 0],
  ArrowUp: [0, ARROW],
  ArrowDown: [0, -ARROW],
};

/** The zoom and position of the picture in a frame. Frames that use the same `Zoom` move together. */
export function usePlacement(frame: RefObject<HTMLElement | null>): Zoom {
  const [placement, setPlacement] = useState<Placement>(FIT);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const size = () => frame.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
  const zoom = (factor: number, at?: { x: number; y: number }) =>
    setPlacement((before) => bounded(zoomAt(before, factor, at), size()));
  const pan = (x: number, y: number) =>
    setPlacement((before) => bounded({ ...before, x: before.x + x, y: before.y + y }, size()));
  const fit = () => setPlacement(FIT);
  const fitted = useFitted(frame);
  const to = (wanted: number) => fitted && setPlacement({ ...FIT, scale: wanted / fitted });

  useEffect(() => {
    const element = frame.current;
    // A native listener, because wheel listeners of React cannot keep the page from zooming.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), {
        x: event.clientX - box.x - box.width / 2,
        y: event.clientY - box.y - box.height / 2,
      });
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
    // The frame stays the same element while the viewer is open.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);

  function onPointerMove(event: PointerEvent) {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const distance = (a: typeof now) => Math.hypot(a.x - other.x, a.y - other.y);
      zoom(distance(now) / Math.max(1, distance(before)));
    } else pan(now.x - before.x, now.y - before.y);
    pointers.current.set(event.pointerId, now);
  }
  const release = (event: PointerEvent) => void pointers.current.delete(event.pointerId);

  return {
    placement,
    shown: fitted && fitted * placement.scale,
    in: () => zoom(STEP),
    out: () => zoom(1 / STEP),
    fit,
    to,
    pan,
    arrow: (key) => {
      const by = ARROWS[key];
      if (!by || placement.scale <= 1) return false;
      pan(...by);
      return true;
    },
    handlers: {
      onPointerDown: (event) => {
        if (placement.scale > 1) event.currentTarget.setPointerCapture(event.pointerId);
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove,
      onPointerUp: release,
      onPointerCancel: release,
    },
    onDoubleClick: () => (placement.scale === 1 ? to(1) : fit()),
  };
}

/**
 * How many pixels of the screen one pixel of the first picture takes when it fits the frame; null: no picture is
 * loaded.
 */
function useFitted(frame: RefObject<HTMLElement | null>): number | null {
  const [fitted, setFitted] = useState<number | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = () => {
      const picture = element.querySelector('img');
      if (!picture || picture.naturalWidth === 0) return setFitted(null);
      const { clientWidth, clientHeight, naturalWidth, naturalHeight } = picture;
      setFitted(Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight) * devicePixelRatio || null);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // The load event of a picture does not bubble, so it is captured.
    element.addEventListener('load', measure, true);
    return () => {
      observer.disconnect();
      element.removeEventListener('load', measure, true);
    };
  }, [frame]);
  return fitted;
}

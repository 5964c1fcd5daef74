import { type CSSProperties, useState } from 'react';
import { renewLink } from '../live/link-keeper.ts';
import { useWhenLive } from '../live/use-when-live.ts';
import { Button } from '../parts/button.tsx';
import type { Placement } from './pan-zoom.ts';
import styles from './viewer.module.css';

/** A picture of the signed-in API key, with its last known link. */
export interface Shown {
  fileId: string;
  src: string;
  alt: string;
  width: number;
  height: number;
}

interface Props {
  picture: Shown;
  placement: Placement;
  style?: CSSProperties;
}

/** A picture at its position in the frame. A link that fails is renewed once. */
export function Picture({ picture, placement, style }: Props) {
  const { fileId, src, alt, width, height } = picture;
  const [renewed, setRenewed] = useState<string | null>(null);
  const [state, setState] = useState<'shown' | 'retried' | 'failed'>('shown');
  const renew = async (next: typeof state) => {
    const link = await renewLink(fileId);
    setRenewed(link);
    setState(link ? next : 'failed');
  };
  useWhenLive(() => void renew('retried'), state === 'failed');
  if (state === 'failed') {
    return (
      <p className={styles.note}>
        The picture did not load. <Button onClick={() => void renew('retried')}>Reload picture</Button>
      </p>
    );
  }
  return (
    <img
      src={renewed ?? src}
      alt={alt}
      width={width}
      height={height}
      draggable={false}
      onError={() => (state === 'shown' ? void renew('retried') : setState('failed'))}
      style={{ ...style, transform: `translate(${placement.x}px, ${placement.y}px) scale(${placement.scale})` }}
    />
  );
}

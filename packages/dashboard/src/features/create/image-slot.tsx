import { ArrowLeft, ArrowRight, X } from 'lucide-react';
import type { DragEvent } from 'react';
import { IconButton } from '../../parts/icon-button.tsx';
import styles from './image-tray.module.css';

/**
 * The data type of a dragged slot. The data is the index of the slot. Because the type is our own, no other drop target
 * mistakes the slot for text or a file.
 */
const DRAGGED = 'application/x-darkroom-slot';

interface Props {
  /** Shown if there is no preview. */
  name: string;
  label: string;
  index: number;
  count: number;
  preview: string | null;
  fault: string | undefined;
  onMove(from: number, to: number): void;
  onRemove(): void;
}

/** A reference image. Dragging or its buttons change its position. */
export function ImageSlot({ name, label, index, count, preview, fault, onMove, onRemove }: Props) {
  const onDrop = (event: DragEvent) => {
    const from = event.dataTransfer.getData(DRAGGED);
    if (from === '') return;
    event.preventDefault();
    event.stopPropagation();
    if (Number(from) !== index) onMove(Number(from), index);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the buttons inside do the same
    <div
      className={styles.slot}
      data-bad={fault !== undefined}
      draggable={count > 1}
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, String(index))}
      onDrop={onDrop}
    >
      {preview ? (
        <img src={preview} alt={`${label} ${index + 1}`} draggable={false} />
      ) : (
        <span className={styles.host}>{name}</span>
      )}
      <span className={styles.tools}>
        {index > 0 && (
          <IconButton label={`Move image ${index + 1} forward`} onClick={() => onMove(index, index - 1)}>
            <ArrowLeft />
          </IconButton>
        )}
        {index < count - 1 && (
          <IconButton label={`Move image ${index + 1} back`} onClick={() => onMove(index, index + 1)}>
            <ArrowRight />
          </IconButton>
        )}
        <IconButton label={`Remove image ${index + 1}`} onClick={onRemove}>
          <X />
        </IconButton>
      </span>
      {fault && <p role="alert">{fault}</p>}
    </div>
  );
}

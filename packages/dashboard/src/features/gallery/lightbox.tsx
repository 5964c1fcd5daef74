import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { ChevronLeft, ChevronRight, Crosshair, Download, Info, ListTodo, X } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { downloadUrl, fileUrl } from '../../live/link-keeper.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Viewer } from '../../viewer/viewer.tsx';
import styles from './gallery.module.css';
import { goneWords } from '../../format/gone.ts';
import type { Shot } from './shot.ts';

interface Props {
  shot: Shot | null;
  isLoading: boolean;
  onStep(by: 1 | -1): void;
  onEnd(last: boolean): void;
  onClose(): void;
  onLocate(): void;
  onTask(taskId: string, output: number): void;
  onUse: ((fileId: string) => void) | null;
}

/** One picture over the gallery. Esc leads back to its tile. */
export function Lightbox({ shot, isLoading, onStep, onEnd, onClose, onLocate, onTask, onUse }: Props) {
  const [info, setInfo] = useState(true);
  const popup = useRef<HTMLDivElement>(null);
  const toTask = () => shot && onTask(shot.taskId, shot.output.index + 1);
  useShortcuts({
    i: () => setInfo(!info),
    t: toTask,
    l: onLocate,
    d: () => popup.current?.querySelector<HTMLElement>('a[download]')?.click(),
    ...(shot && onUse && { u: () => onUse(shot.output.id) }),
  });
  // Not among the shortcuts, because a dialog keeps these keys to itself.
  function onKeyDown(event: KeyboardEvent) {
    if ((event.target as HTMLElement).tagName === 'VIDEO') return;
    if ((event.target as HTMLElement).closest('[data-zoomed=true]')) return; // arrows move a zoomed picture
    const moves: Record<string, () => void> = {
      ArrowRight: () => onStep(1),
      ArrowLeft: () => onStep(-1),
      Home: () => onEnd(false),
      End: () => onEnd(true),
    };
    moves[event.key]?.();
  }
  const url = shot && fileUrl(shot.output);
  return (
    <BaseDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.dim} />
        <BaseDialog.Popup
          ref={popup}
          initialFocus={popup}
          className={styles.lightbox}
          aria-label="Picture"
          onKeyDownCapture={onKeyDown}
        >
          {shot ? (
            <>
              <Viewer
                key={shot.output.id}
                fileId={shot.output.id}
                src={url}
                alt={shot.prompt.slice(0, 120)}
                isFilm={shot.output.type === 'VIDEO'}
                width={shot.output.width}
                height={shot.output.height}
                gone={`${goneWords(shot.filesUntil)}.`}
                fills
              >
                <IconButton label="Previous" shortcut="←" onClick={() => onStep(-1)}>
                  <ChevronLeft />
                </IconButton>
                <IconButton label="Next" shortcut="→" onClick={() => onStep(1)}>
                  <ChevronRight />
                </IconButton>
                <IconButton label="Prompt" shortcut="i" aria-pressed={info} onClick={() => setInfo(!info)}>
                  <Info />
                </IconButton>
                {url && (
                  <a
                    className={buttonClass({ variant: 'quiet', icon: true })}
                    href={downloadUrl(shot.output) ?? undefined}
                    download
                    aria-label="Download"
                    title="Download"
                  >
                    <Download />
                  </a>
                )}
                <IconButton label="Close" shortcut="Esc" onClick={onClose}>
                  <X />
                </IconButton>
              </Viewer>
              {info && (
                <div className={styles.info}>
                  <p>
                    <bdi>{shot.prompt}</bdi> <CopyButton small text={shot.prompt} label="Copy prompt" />
                  </p>
                  <span className={styles.sub}>
                    {shot.model} · {shot.output.width} × {shot.output.height}
                  </span>
                  <span className={styles.infoActions}>
                    {onUse && shot.output.type === 'IMAGE' && (
                      <Button onClick={() => onUse(shot.output.id)}>Use as reference</Button>
                    )}
                    <Button onClick={onLocate}>
                      <Crosshair aria-hidden /> Locate <kbd>l</kbd>
                    </Button>
                    <Button onClick={toTask}>
                      <ListTodo aria-hidden /> Task
                    </Button>
                  </span>
                </div>
              )}
            </>
          ) : (
            <div className={styles.missing}>
              <p>{isLoading ? 'Loading…' : 'No file of yours has this id, or it is deleted.'}</p>
              <Button variant="primary" onClick={onClose}>
                Gallery
              </Button>
            </div>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

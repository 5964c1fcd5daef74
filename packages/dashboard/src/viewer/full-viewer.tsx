import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { ChevronLeft, ChevronRight, Download, Info, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { goneWords } from '../format/gone.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { downloadUrl, fileUrl } from '../live/link-keeper.ts';
import { Button, buttonClass } from '../parts/button.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { Filmstrip } from './filmstrip.tsx';
import styles from './full-viewer.module.css';
import { KeepKeys } from './keep-keys.tsx';
import { KeepPanel } from './keep-panel.tsx';
import type { Shot } from './shot.ts';
import { ShotPanel } from './shot-panel.tsx';
import { StarButton } from './star-button.tsx';
import { useOutput } from './use-output.ts';
import { Viewer } from './viewer.tsx';

interface Props {
  /** The picture that is open; null: it is loading, or was not found. */
  shot: Shot | null;
  /** The pictures among which the arrow keys move. */
  shots: readonly Shot[];
  isLoading: boolean;
  /** The name of the screen to which the button leads if there is no picture. */
  home: string;
  onGo(shot: Shot): void;
  /** Opens the next picture or the one before. At the ends it does nothing, or reads more pictures. */
  onStep(by: 1 | -1): void;
  onEnd(last: boolean): void;
  onClose(): void;
  /** Whether the key may keep files. */
  mayKeep: boolean;
  /** The actions on the picture, apart from the download. */
  renderActs(shot: Shot): ReactNode;
  shortcuts?: Record<string, () => void>;
}

/** One picture or film over the whole screen, always dark. Esc leads back to where it was opened. */
export function FullViewer(props: Props) {
  const { shot, isLoading, home, onStep, onEnd, onClose, shortcuts } = props;
  const [info, setInfo] = useState(() => matchMedia('(min-width: 1024px)').matches);
  const popup = useRef<HTMLDivElement>(null);
  useShortcuts({
    i: () => setInfo(!info),
    d: () => popup.current?.querySelector<HTMLElement>('a[download]')?.click(),
    ...shortcuts,
  });
  // Not a shortcut, because a dialog handles these keys itself.
  function onKeyDown(event: KeyboardEvent) {
    if ((event.target as HTMLElement).tagName === 'VIDEO') return;
    if ((event.target as HTMLElement).closest('[data-zoomed=true]')) return; // the arrow keys move a zoomed picture
    const moves: Record<string, () => void> = {
      ArrowRight: () => onStep(1),
      ArrowLeft: () => onStep(-1),
      Home: () => onEnd(false),
      End: () => onEnd(true),
    };
    moves[event.key]?.();
  }
  return (
    <BaseDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.dim} data-theme="safelight" />
        <BaseDialog.Popup
          ref={popup}
          initialFocus={popup}
          className={styles.full}
          data-theme="safelight"
          data-info={info && shot !== null}
          aria-label={shot?.output.type === 'VIDEO' ? 'Film' : 'Picture'}
          onKeyDownCapture={onKeyDown}
        >
          <span className={styles.close}>
            <IconButton label="Close" shortcut="Esc" onClick={onClose}>
              <X />
            </IconButton>
          </span>
          {shot ? (
            <Opened {...props} listed={shot} info={info} onInfo={() => setInfo(!info)} />
          ) : (
            <div className={styles.missing}>
              <p>{isLoading ? 'Loading…' : 'No file of yours has this id, or it is deleted.'}</p>
              <Button variant="primary" onClick={onClose}>
                {home}
              </Button>
            </div>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface OpenedProps extends Pick<Props, 'shots' | 'onGo' | 'onStep' | 'mayKeep' | 'renderActs'> {
  listed: Shot;
  /** Whether the panel about the picture is open. */
  info: boolean;
  onInfo(): void;
}

/** The picture with its bar, the filmstrip and the panel, in its present state: it may be deleted while it is open. */
function Opened({ listed, shots, info, onInfo, onGo, onStep, mayKeep, renderActs }: OpenedProps) {
  const shot = { ...listed, ...useOutput(listed) };
  const at = shots.findIndex(({ output }) => output.id === shot.output.id);
  const url = fileUrl(shot.output);
  return (
    <>
      <div className={styles.stage}>
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
          {at >= 0 && (
            <span className="mono">
              {at + 1} / {shots.length}
            </span>
          )}
          <IconButton label="Next" shortcut="→" onClick={() => onStep(1)}>
            <ChevronRight />
          </IconButton>
          {mayKeep && <StarButton listed={shot} />}
          {url && (
            <a
              className={buttonClass({ variant: 'quiet', icon: true })}
              href={downloadUrl(shot.output) ?? undefined}
              download
              aria-label="Download"
              title="Download (d)"
            >
              <Download />
            </a>
          )}
          <IconButton label="About the picture" shortcut="i" aria-pressed={info} onClick={onInfo}>
            <Info />
          </IconButton>
        </Viewer>
      </div>
      {shots.length > 1 && <Filmstrip shots={shots} at={at} onGo={onGo} />}
      {info && (
        <ShotPanel key={shot.taskId} shot={shot} keep={<KeepPanel listed={shot} mayKeep={mayKeep} />}>
          {renderActs(shot)}
        </ShotPanel>
      )}
      {mayKeep && url && <KeepKeys target={() => [shot]} />}
    </>
  );
}

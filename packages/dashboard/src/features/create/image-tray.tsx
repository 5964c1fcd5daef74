import { Images, ImagePlus, Link2, X } from 'lucide-react';
import { type ClipboardEvent, type DragEvent, lazy, Suspense, useRef, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { IMAGE_TYPES, MAX_UPLOAD_BYTES } from '../../api/upload.ts';
import { bytes } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import type { ControlIds } from '../../parts/field.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { report } from '../../parts/toasts.ts';
import { usePreviews } from './file-previews.ts';
import { ImageSlot } from './image-slot.tsx';
import styles from './image-tray.module.css';
import { takeImage, useUploads, withinRoom } from './uploads.ts';

const ReferencePicker = lazy(
  part(() => import('./reference-picker.tsx').then(({ ReferencePicker: it }) => ({ default: it }))),
);

interface Props {
  ids: ControlIds;
  label: string;
  name: string;
  faults: Record<string, string>;
  value: string[];
  max: number;
  disabled: boolean;
  onChange(value: string[]): void;
}

/** Reference images: dropped, pasted, chosen or by URL. The browser never fetches a foreign URL. */
export function ImageTray({ ids, label, name, faults, value, max, disabled, onChange }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [url, setUrl] = useState<string | null>(null);
  const [picks, setPicks] = useState(false);
  const add = (id: string) => onChange([...value, id].slice(0, max));
  const uploads = useUploads(name);
  const previewOf = usePreviews(value);
  const room = max - value.length - uploads.filter(({ fault }) => !fault).length;
  const isOff = disabled || room <= 0;

  const addFiles = (files: Iterable<File>) => {
    const given = [...files];
    const taken = withinRoom(given, room);
    if (taken.length < given.length) report(`${label}: at most ${max}.`, true);
    for (const file of taken) void takeImage(file, name);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!disabled) addFiles(event.dataTransfer.files);
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    if (!disabled) addFiles(event.clipboardData.files);
  };
  const move = (from: number, to: number) => {
    const next = [...value];
    next.splice(to, 0, ...next.splice(from, 1));
    onChange(next);
  };
  const addUrl = () => {
    if (url?.trim()) onChange([...value, url.trim()]);
    setUrl(null);
  };

  // Nothing is shown, because the hint of the field says why it is disabled.
  if (disabled && value.length === 0 && uploads.length === 0) return null;

  return (
    <div
      className={styles.tray}
      data-over={isOver}
      aria-disabled={disabled}
      onDragOver={(event) => (event.preventDefault(), setOver(!isOff))}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
      onPaste={onPaste}
    >
      {value.map((image, index) => (
        <ImageSlot
          key={`${image}-${index}`}
          name={hostOf(image)}
          label={label}
          index={index}
          count={value.length}
          preview={previewOf(image)}
          fault={faults[`${name}[${index}]`]}
          onMove={move}
          onRemove={() => onChange(value.filter((_, at) => at !== index))}
        />
      ))}
      {uploads.map(({ key, file, share, fault, cancel }) => (
        <div key={key} className={styles.upload}>
          <span>{fault ?? `${file.name}, ${bytes(file.size)}`}</span>
          {!fault && <ProgressBar percent={Math.round(share * 100)} label={`Uploading ${file.name}`} />}
          <IconButton label={fault ? 'Dismiss' : 'Cancel upload'} onClick={cancel}>
            <X />
          </IconButton>
        </div>
      ))}
      {!isOff && (
        <div className={styles.add}>
          <input
            ref={input}
            hidden
            type="file"
            accept={IMAGE_TYPES.join(',')}
            multiple={max > 1}
            onChange={({ target }) => {
              addFiles(target.files ?? []);
              target.value = ''; // so that the same file can be chosen again
            }}
          />
          <Button id={ids.id} aria-describedby={ids['aria-describedby']} onClick={() => input.current?.click()}>
            <ImagePlus aria-hidden /> Browse
          </Button>
          <Button variant="quiet" onClick={() => setPicks(true)}>
            <Images aria-hidden /> Gallery
          </Button>
          <Button variant="quiet" onClick={() => setUrl(url === null ? '' : null)} aria-expanded={url !== null}>
            <Link2 aria-hidden /> URL
          </Button>
          <span className={styles.hint}>
            or drop, or paste. {max > 1 ? `${value.length} of ${max}, ` : ''}up to {bytes(MAX_UPLOAD_BYTES)}
          </span>
        </div>
      )}
      {url !== null && !isOff && (
        <div className={styles.url}>
          <TextInput
            aria-label={`URL of ${label}`}
            placeholder="https://… or file_…"
            value={url}
            autoFocus
            onChange={(event) => setUrl(event.target.value)}
            onKeyDown={(event) =>
              event.key === 'Enter' && !event.ctrlKey && !event.metaKey && (event.preventDefault(), addUrl())
            }
          />
          <Button onClick={addUrl}>Add</Button>
        </div>
      )}
      {picks && (
        <Suspense>
          <ReferencePicker onClose={() => setPicks(false)} onPick={(id) => (add(id), setPicks(false))} />
        </Suspense>
      )}
    </div>
  );
}

/** The host of a foreign URL, `inline image` for a data URL, or the id of a file of this service. */
function hostOf(image: string): string {
  return URL.canParse(image) ? new URL(image).host || 'inline image' : image;
}

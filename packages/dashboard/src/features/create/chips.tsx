import { Bookmark } from 'lucide-react';
import { lazy, Suspense, useId, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { Button } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import type { Model } from './create.documents.ts';
import type { Target } from './fan-out.ts';
import { othersOf } from './fan-out.ts';
import { usePreviews } from './file-previews.ts';
import styles from './dock.module.css';
import { chipWords, type Control, controlsOf, imagesOf, isSet, schemaOf } from './schema-rules.ts';
import type { Preset } from './presets.ts';
import type { Form } from './use-form.ts';

const ChipPanel = lazy(part(() => import('./chip-panel.tsx').then(({ ChipPanel: it }) => ({ default: it }))));

interface Props {
  models: readonly Model[];
  form: Form;
  targets: readonly Target[];
  onPreset(preset: Preset): void;
}

/**
 * The settings of a request in one row, drawn from the schema of its model. A setting that differs from its default
 * glows. A chip opens the control of its setting.
 */
export function Chips({ models, form, targets, onPreset }: Props) {
  const [open, setOpen] = useState<string | null>(null);
  const id = useId();
  const { model, values, fan } = form;
  const controls = controlsOf(schemaOf(model), values).filter(({ kind }) => kind !== 'prompt');
  const shown = controls.filter((each) => !(each.extra || each.own) || isSet(each, values[each.name]));
  const isOfForm = open === 'model' || open === 'several' || open === 'presets';
  const of = isOfForm ? open : shown.find(({ name }) => name === open);
  const others = othersOf(models, model);
  useShortcuts(open === null ? {} : { escape: () => setOpen(null) });
  const toggle = (name: string) => setOpen(open === name ? null : name);
  const chip = (name: string, glows: boolean) => ({
    className: cx(styles.chip, glows && styles.glows),
    'aria-expanded': open === name,
    'aria-controls': id,
    onClick: () => toggle(name),
  });
  const more = fan.also.length + (fan.repeat > 1 ? 1 : 0);
  return (
    <>
      {open !== null && (
        <div id={id} className={styles.panel}>
          <Suspense>
            {of && <ChipPanel models={models} form={form} targets={targets} of={of} onPreset={onPreset} />}
          </Suspense>
        </div>
      )}
      <div className={styles.chips} role="toolbar" aria-label="Settings of the request">
        <Button {...chip('model', false)} aria-label={`Model: ${model.id}`}>
          {model.id}
        </Button>
        {shown.map((each) => (
          <Button
            key={each.name}
            {...chip(each.name, isSet(each, values[each.name]) && values[each.name] !== each.schema.default)}
            aria-label={nameOf(each, values[each.name])}
            disabled={each.disabled !== null}
            title={each.disabled ?? each.label}
          >
            <ChipFace control={each} value={values[each.name]} />
          </Button>
        ))}
        {(others.length > 0 || more > 0) && (
          <Button
            {...chip('several', more > 0)}
            aria-label={`Several at once: ${more > 0 ? severalWords(form) : '+ models'}`}
          >
            {more > 0 ? severalWords(form) : '+ models'}
          </Button>
        )}
        <Button {...chip('presets', false)} aria-label="Presets" title="Presets">
          <Bookmark aria-hidden />
        </Button>
      </div>
    </>
  );
}

const nameOf = (control: Control, value: unknown): string =>
  `${control.label}: ${chipWords(control, value) ?? (imagesOf(value).length || 'none')}`;

const severalWords = ({ fan }: Form): string =>
  [
    fan.also.length > 0 && `+ ${fan.also.length} ${fan.also.length === 1 ? 'model' : 'models'}`,
    fan.repeat > 1 && `${fan.repeat} times`,
  ]
    .filter(Boolean)
    .join(', ');

/** What a chip shows: the value in words. For images: their previews and the name of the setting. */
function ChipFace({ control, value }: { control: Control; value: unknown }) {
  const images = imagesOf(control.kind === 'image' || control.kind === 'images' ? value : undefined);
  const previewOf = usePreviews(images);
  const words = chipWords(control, value);
  if (words !== null) return <>{words}</>;
  return (
    <>
      {images.map((image) => {
        const preview = previewOf(image);
        return preview ? <img key={image} src={preview} alt="" /> : <span key={image}>▣</span>;
      })}
      {control.label}
    </>
  );
}

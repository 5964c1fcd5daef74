import { BookmarkPlus, X } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { Button } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './drawer.module.css';
import { currentPresets, deletePreset, keptValues, onPresets, type Preset, savePreset } from './presets.ts';
import { schemaOf } from './schema-rules.ts';
import type { Form } from './use-form.ts';

/** Settings that were saved under a name, in this browser only. */
export function PresetBar({ form, onUse }: { form: Form; onUse(preset: Preset): void }) {
  const presets = useSyncExternalStore(onPresets, currentPresets);
  const [name, setName] = useState('');
  const save = () => {
    if (name.trim() === '') return;
    const { model, values } = form;
    savePreset({ name: name.trim(), model: model.id, values: keptValues(schemaOf(model), values) });
    setName('');
  };
  return (
    <section className={styles.presets} aria-label="Presets">
      {presets.map((preset) => (
        <span key={preset.name} className={styles.preset}>
          <Button onClick={() => onUse(preset)} title={preset.model}>
            <bdi>{preset.name}</bdi>
          </Button>
          <IconButton label={`Delete the preset ${preset.name}`} onClick={() => deletePreset(preset.name)}>
            <X />
          </IconButton>
        </span>
      ))}
      {/* Not a form: a chip shows this bar inside the form of the request, and forms cannot be nested. */}
      <div className={styles.save}>
        <TextInput
          aria-label="Name of the preset"
          placeholder="Keep these settings as…"
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
            event.preventDefault();
            save();
          }}
        />
        <Button onClick={save} disabled={name.trim() === ''}>
          <BookmarkPlus aria-hidden /> Keep
        </Button>
      </div>
    </section>
  );
}

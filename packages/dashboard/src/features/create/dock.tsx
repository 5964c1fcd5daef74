import { ArrowUp, CircleHelp, Clapperboard, Code, History, SlidersHorizontal } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, lazy, type RefObject, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { codePoints } from '../../format/numbers.ts';
import { MOD } from '../../keys/shortcuts.ts';
import { Button } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { TextArea } from '../../parts/text-area.tsx';
import { Chips } from './chips.tsx';
import type { Model } from './create.documents.ts';
import styles from './dock.module.css';
import type { DrawerTab } from './drawer-tab.ts';
import type { Target } from './fan-out.ts';
import type { Preset } from './presets.ts';
import { schemaOf } from './schema-rules.ts';
import { useCost } from './use-cost.ts';
import type { Form } from './use-form.ts';

const Directives = lazy(part(() => import('./directives.tsx').then(({ Directives: it }) => ({ default: it }))));

interface Props {
  place: RefObject<HTMLFormElement | null>;
  models: readonly Model[];
  form: Form;
  targets: readonly Target[];
  mayCreate: boolean;
  /** `running`: an upload for the form runs. `awaited`: Generate was pressed and waits for it. Null: no upload runs. */
  upload: 'running' | 'awaited' | null;
  drawer: DrawerTab | null;
  onDrawer(tab: DrawerTab): void;
  onGenerate(): void;
  /** Called by ↑ (1) and ↓ (-1) in an empty or recalled prompt. @returns the older or newer prompt; null: none */
  onRecall(by: 1 | -1): string | null;
  /** Starts a film from the only reference image; null: there is no such image, or no model can make the film. */
  onFilm: (() => void) | null;
  onPreset(preset: Preset): void;
}

/** The prompt with its settings, at the lower edge of the screen. */
export function Dock(props: Props) {
  const { place, models, form, targets, mayCreate, drawer, onDrawer, onGenerate, onRecall, onFilm, onPreset } = props;
  const after = props.upload ? ' after the upload' : '';
  const { model, values, fan, faults } = form;
  const [helps, setHelps] = useState(false);
  const cost = useCost(models, targets, fan.repeat);
  const count = targets.length * fan.repeat;
  const prompt = String(values.prompt ?? '');
  const limit = schemaOf(model).properties['prompt']?.maxLength ?? 0;
  const length = codePoints(prompt);
  // A drawer with the settings shows each fault at its control, except the fault of the prompt.
  const shownFaults = Object.entries(faults).filter(([name]) => name === 'prompt' || drawer !== 'settings');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onGenerate();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key] as 1 | -1 | undefined;
    if (!by || (prompt !== '' && event.currentTarget.dataset['recalled'] !== prompt)) return;
    const text = onRecall(by);
    if (text === null) return;
    event.preventDefault();
    event.currentTarget.dataset['recalled'] = text;
    form.set('prompt', text);
  };
  const tab = (name: DrawerTab, label: string, Icon: typeof Code) => (
    <Button variant="quiet" aria-pressed={drawer === name} onClick={() => onDrawer(name)}>
      <Icon aria-hidden /> <span>{label}</span>
    </Button>
  );
  return (
    <form ref={place} className={styles.dock} noValidate onSubmit={submit}>
      {form.notes && (
        <div className={styles.note} role="status">
          <span>{form.notes.texts.join('; ')}</span>
          <Button variant="quiet" onClick={form.notes.undo}>
            Undo
          </Button>
        </div>
      )}
      {onFilm && (
        <div className={styles.note} role="status">
          <span>Your picture goes along as a reference.</span>
          <Button variant="quiet" onClick={onFilm}>
            <Clapperboard aria-hidden /> Make a film of it
          </Button>
        </div>
      )}
      {shownFaults.map(([name, text]) => (
        <p key={name} id={`fault-${name}`} className={styles.fault} role="alert">
          {text}
        </p>
      ))}
      {cost && !cost.withinBudget && <p className={styles.fault}>The budget of this key has no room for it now.</p>}
      {!mayCreate && <p className={styles.fault}>This key lacks the scope generations:write.</p>}
      <div className={styles.line} data-field="prompt">
        <TextArea
          name="prompt"
          aria-label="Prompt"
          aria-invalid={faults['prompt'] ? true : undefined}
          aria-describedby={faults['prompt'] ? 'fault-prompt' : undefined}
          className={styles.prompt}
          rows={1}
          placeholder={model.kind === 'VIDEO' ? 'Describe what happens in the film' : 'Describe a picture'}
          value={prompt}
          onChange={(event) => form.set('prompt', event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button
          type="submit"
          variant="primary"
          className={styles.generate}
          disabled={!mayCreate}
          busy={props.upload === 'awaited' && 'Waiting for the upload…'}
          title={`${MOD}Enter`}
        >
          <ArrowUp aria-hidden /> {(count > 1 ? `Generate ${count}` : 'Generate') + after}
          {cost && <span className={styles.cost}>{cost.text}</span>}
        </Button>
      </div>
      <Suspense>{helps && model.sandbox && <Directives prompt={prompt} />}</Suspense>
      <Chips models={models} form={form} targets={targets} onPreset={onPreset} />
      <div className={styles.tabs}>
        {length > limit * 0.8 && (
          <span className={styles.count}>
            {length.toLocaleString()} / {limit.toLocaleString()}
          </span>
        )}
        {model.sandbox && (
          <IconButton label="What the sandbox understands" aria-expanded={helps} onClick={() => setHelps(!helps)}>
            <CircleHelp />
          </IconButton>
        )}
        {tab('settings', 'Settings', SlidersHorizontal)}
        {tab('code', 'Code', Code)}
        {tab('history', 'History', History)}
      </div>
    </form>
  );
}

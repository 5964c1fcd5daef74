import type { Model } from './create.documents.ts';
import { othersOf, type Target } from './fan-out.ts';
import { FanOutControls } from './fan-out-fields.tsx';
import { FormControl } from './form-control.tsx';
import { ModelField } from './model-field.tsx';
import { PresetBar } from './preset-bar.tsx';
import type { Preset } from './presets.ts';
import type { Control } from './schema-rules.ts';
import type { Form } from './use-form.ts';

interface Props {
  models: readonly Model[];
  form: Form;
  targets: readonly Target[];
  /** What the chip sets. */
  of: 'model' | 'several' | 'presets' | Control;
  onPreset(preset: Preset): void;
}

/** The control that a chip opens. It is loaded when the first chip is opened, because most prompts need none. */
export function ChipPanel({ models, form, targets, of, onPreset }: Props) {
  const { model, values, fan, faults } = form;
  if (of === 'model') return <ModelField models={models} form={form} />;
  if (of === 'presets') return <PresetBar form={form} onUse={onPreset} />;
  if (of === 'several') {
    return <FanOutControls others={othersOf(models, model)} fan={fan} targets={targets} onChange={form.setFan} />;
  }
  return (
    <FormControl
      key={`${model.id} ${of.name}`}
      control={of}
      value={values[of.name]}
      fault={faults[of.name] ?? null}
      faults={faults}
      onChange={(value) => form.set(of.name, value)}
    />
  );
}

import type { Config } from '../../platform/config/config.ts';
import type { ProviderVariable } from '../../platform/config/provider-settings.ts';

export const PROVIDER_NAMES = ['openai', 'gemini', 'ark', 'fal', 'replicate', 'comfyui', 'sandbox'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** How a model is served: an entry of the PROVIDERS file, or a default chosen by the credentials in the environment. */
export interface Binding {
  provider: ProviderName;
  /** The provider's own name of the model. */
  model: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** Name of the environment variable that contains the key; null if no key is needed. */
  credential: string | null;
  /** Most calls in flight at once, over all processes; null: no limit. */
  concurrency: number | null;
  durationPolicy: 'exact' | 'nearest';
  /** What to do after a crash if it is unknown whether a paid call was accepted; null: the provider's default. */
  onUnknownOutcome: 'fail' | 'resubmit' | null;
}

interface ProviderDefaults {
  credential: ProviderVariable | null;
  baseUrlVariable: ProviderVariable | null;
  baseUrl: string;
}

/** Used unless a *_BASE_URL variable or a binding overrides it. The URLs come from each provider's API documentation. */
const DEFAULTS: Record<ProviderName, ProviderDefaults> = {
  openai: { credential: 'OPENAI_API_KEY', baseUrlVariable: 'OPENAI_BASE_URL', baseUrl: 'https://api.openai.com/v1' },
  gemini: {
    credential: 'GEMINI_API_KEY',
    baseUrlVariable: 'GEMINI_BASE_URL',
    baseUrl: 'https://generativelanguage.googleapis.com',
  },
  ark: {
    credential: 'ARK_API_KEY',
    baseUrlVariable: 'ARK_BASE_URL',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  },
  fal: { credential: 'FAL_KEY', baseUrlVariable: 'FAL_BASE_URL', baseUrl: 'https://queue.fal.run' },
  replicate: {
    credential: 'REPLICATE_API_TOKEN',
    baseUrlVariable: 'REPLICATE_BASE_URL',
    baseUrl: 'https://api.replicate.com/v1',
  },
  comfyui: { credential: null, baseUrlVariable: 'COMFYUI_URL', baseUrl: 'http://127.0.0.1:8188' },
  sandbox: { credential: null, baseUrlVariable: null, baseUrl: '' },
};

/**
 * Default bindings of each model: those of the first provider whose credential is present. A row is a provider and its
 * upstream models, in order of preference.
 */
const BY_CREDENTIAL: Readonly<Record<string, readonly [ProviderName, ...string[]][]>> = {
  'gpt-image-2': [
    ['openai', 'gpt-image-2'],
    ['fal', 'openai/gpt-image-2'],
    ['replicate', 'openai/gpt-image-2'],
    ['comfyui', 'default'],
  ],
  // Google deprecated the first upstream model in 2026-10; the second is its successor and accepts the same request.
  'nano-banana-2': [
    ['gemini', 'gemini-3.1-flash-image', 'gemini-nano-banana-2.1'],
    ['fal', 'fal-ai/nano-banana-2'],
    ['replicate', 'google/nano-banana-2'],
    ['comfyui', 'default'],
  ],
  'nano-banana-pro': [
    ['gemini', 'gemini-3-pro-image'],
    ['fal', 'fal-ai/nano-banana-pro'],
    ['replicate', 'google/nano-banana-pro'],
    ['comfyui', 'default'],
  ],
  // OpenAI shut its own model down in 2026-09; Seedance 2 supports everything that the public model offers.
  'sora-2': [
    ['ark', 'doubao-seedance-2-0-260128'],
    ['fal', 'bytedance/seedance-2.0'],
    ['replicate', 'bytedance/seedance-2.0'],
  ],
  'seedance-2': [
    ['ark', 'doubao-seedance-2-0-260128'],
    ['fal', 'bytedance/seedance-2.0'],
    ['replicate', 'bytedance/seedance-2.0'],
  ],
};

type BindingFields = Pick<Binding, 'provider' | 'model'> & Partial<Binding>;

/** A binding with the provider's defaults for every field that is absent. */
export function completeBinding(fields: BindingFields, credentials: Config['credentials']): Binding {
  const defaults = DEFAULTS[fields.provider];
  const fromEnvironment = defaults.baseUrlVariable && credentials[defaults.baseUrlVariable];
  return {
    provider: fields.provider,
    model: fields.model,
    baseUrl: (fields.baseUrl ?? fromEnvironment ?? defaults.baseUrl).replace(/\/+$/, ''),
    credential: fields.credential === undefined ? defaults.credential : fields.credential,
    concurrency: fields.concurrency ?? null,
    durationPolicy: fields.durationPolicy ?? 'exact',
    onUnknownOutcome: fields.onUnknownOutcome ?? null,
  };
}

/**
 * The bindings of a model that the PROVIDERS file does not name: the sandbox if no credential is present.
 * @throws Error for a model without default bindings, which would otherwise silently be served by the sandbox
 */
export function defaultBindings(modelId: string, credentials: Config['credentials']): Binding[] {
  const rows = BY_CREDENTIAL[modelId];
  if (!rows) throw new Error(`The model ${modelId} has no default bindings in bindings/binding.ts.`);
  for (const [provider, ...models] of rows) {
    const { credential, baseUrlVariable } = DEFAULTS[provider];
    const variable = credential ?? baseUrlVariable; // ComfyUI has no key: its address selects it
    if (variable && credentials[variable]) {
      return models.map((model) => completeBinding({ provider, model }, credentials));
    }
  }
  return [completeBinding({ provider: 'sandbox', model: modelId }, credentials)];
}

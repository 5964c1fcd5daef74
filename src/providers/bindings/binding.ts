import type { Config } from '../../platform/config.ts';
import type { ProviderVariable } from '../../platform/settings.ts';

export const PROVIDER_NAMES = ['openai', 'gemini', 'ark', 'fal', 'replicate', 'comfyui', 'sandbox'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** How a model is served: a line of the PROVIDERS file, or a default that a credential in the environment calls for. */
export interface Binding {
  provider: ProviderName;
  /** The provider's own name of the model. */
  model: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** The name of the environment variable that holds the key; null where none is needed. */
  credential: string | null;
  /** Calls under way at once, over all processes; null = no bound. */
  concurrency: number | null;
  durationPolicy: 'exact' | 'nearest';
  /** What to do when a crash leaves it unknown whether a paid call was accepted; null: as the provider's kind asks for. */
  onUnknownOutcome: 'fail' | 'resubmit' | null;
}

interface ProviderDefaults {
  credential: ProviderVariable | null;
  baseUrlVariable: ProviderVariable | null;
  baseUrl: string;
}

/** Where each provider is, unless a *_BASE_URL variable or a binding says otherwise; sources: shared provider notes. */
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

/** Who serves a model when nothing is said: the first whose credential is present. Upstream ids, in order. */
const BY_CREDENTIAL: Record<string, [ProviderName, ...string[]][]> = {
  'gpt-image-2': [
    ['openai', 'gpt-image-2'],
    ['fal', 'openai/gpt-image-2'],
    ['replicate', 'openai/gpt-image-2'],
    ['comfyui', 'default'],
  ],
  // Deprecated upstream since 2026-10; its successor takes the same request.
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
  // OpenAI's own engine was shut down in 2026-09; Seedance 2 covers what the model promises.
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

type Given = Pick<Binding, 'provider' | 'model'> & Partial<Binding>;

/** Lays what is known of a provider under what a binding says. */
export function completeBinding(given: Given, credentials: Config['credentials']): Binding {
  const known = DEFAULTS[given.provider];
  const fromEnvironment = known.baseUrlVariable && credentials[known.baseUrlVariable];
  return {
    provider: given.provider,
    model: given.model,
    baseUrl: (given.baseUrl ?? fromEnvironment ?? known.baseUrl).replace(/\/+$/, ''),
    credential: given.credential === undefined ? known.credential : given.credential,
    concurrency: given.concurrency ?? null,
    durationPolicy: given.durationPolicy ?? 'exact',
    onUnknownOutcome: given.onUnknownOutcome ?? null,
  };
}

/** The bindings of a model that the PROVIDERS file does not name. */
export function defaultBindings(modelId: string, credentials: Config['credentials']): Binding[] {
  for (const [provider, ...models] of BY_CREDENTIAL[modelId] ?? []) {
    const { credential, baseUrlVariable } = DEFAULTS[provider];
    const asked = credential ?? baseUrlVariable; // ComfyUI has no key: its address calls for it
    if (asked && credentials[asked]) return models.map((model) => completeBinding({ provider, model }, credentials));
  }
  return [completeBinding({ provider: 'sandbox', model: modelId }, credentials)];
}

import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import type { Config } from '../../platform/config/config.ts';
import type { ProviderVariable } from '../../platform/config/provider-settings.ts';
import { PICTURE_DIALECTS } from '../openai/dialects.ts';

export const PROVIDER_NAMES = ['openai', 'gemini', 'ark', 'fal', 'replicate', 'comfyui', 'sandbox'] as const;
/** The PROVIDERS file cannot name `http`, because only a declaration writes out the calls of a provider. */
export type ProviderName = (typeof PROVIDER_NAMES)[number] | 'http';

/** How a model is served: an entry of the PROVIDERS file, or a binding of its declaration, or the sandbox. */
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
  /**
   * The binding as written in the declaration of the model. Absent if the binding comes from the PROVIDERS file, or is
   * the default sandbox.
   */
  declared?: DeclaredBinding;
}

interface ProviderDefaults {
  credential: ProviderVariable | null;
  baseUrlVariable: ProviderVariable | null;
  baseUrl: string;
}

/**
 * Defaults, unless a *_BASE_URL variable or a binding overrides them. The URLs come from each provider's API
 * documentation.
 */
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
  http: { credential: null, baseUrlVariable: null, baseUrl: '' },
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
    ...(fields.declared && { declared: fields.declared }),
  };
}

type Configured = Pick<Config, 'credentials' | 'secretOf'>;

/**
 * The bindings of a model for which the PROVIDERS file has no entry. With `choose: in_order`, these are all bindings of
 * its declaration. Otherwise they are the bindings of the first provider that is configured, or the sandbox if none is.
 * A provider is configured if its credential is set; ComfyUI, which needs none, if its address is set. A binding in an
 * unknown dialect is left out.
 */
export function defaultBindings(
  model: Pick<Model, 'id' | 'kind' | 'bindings' | 'choose'>,
  config: Configured,
): Binding[] {
  const complete = (binding: DeclaredBinding): Binding[] =>
    addressesOf(binding).map((address) => completeBinding(fieldsOf(binding, address), config.credentials));
  const served = model.bindings.filter((binding) => isServed(binding, model.kind));
  if (model.choose === 'in_order') return served.flatMap(complete);
  const first = served.find((binding) => isConfigured(binding, config));
  if (!first) return [sandboxBinding(model.id, config)];
  return served.filter(({ provider }) => provider === first.provider).flatMap(complete);
}

export const sandboxBinding = (model: string, { credentials }: Pick<Config, 'credentials'>): Binding =>
  completeBinding({ provider: 'sandbox', model }, credentials);

/** Whether an adapter speaks the dialect that a binding declares. Nothing is sent in another dialect. */
const isServed = ({ dialect = 'openai' }: DeclaredBinding, kind: MediaKind): boolean => SPOKEN[kind].has(dialect);

const SPOKEN: Readonly<Record<MediaKind, ReadonlySet<string>>> = {
  image: new Set([...PICTURE_DIALECTS, 'sd-server']),
  video: new Set(['openai', 'litellm', 'vllm-omni', 'sglang']),
};

function isConfigured({ provider, credential }: DeclaredBinding, { credentials, secretOf }: Configured): boolean {
  const defaults = DEFAULTS[provider as ProviderName];
  const variable = credential ?? defaults.credential;
  if (variable === null) return defaults.baseUrlVariable === null || credentials[defaults.baseUrlVariable] !== null;
  return (variable in credentials ? credentials[variable as ProviderVariable] : secretOf(variable)) !== null;
}

/**
 * The addresses of a binding. `base_urls` lists equal servers, and each becomes a binding of its own. undefined stands
 * for the default address of the provider.
 */
const addressesOf = ({ base_url, base_urls }: DeclaredBinding): readonly (string | undefined)[] =>
  base_urls ?? [base_url];

const fieldsOf = (binding: DeclaredBinding, address: string | undefined): BindingFields => ({
  provider: binding.provider as ProviderName,
  model: binding.model ?? binding.workflow ?? '',
  ...(address !== undefined && { baseUrl: address }),
  ...(binding.credential !== undefined && { credential: binding.credential }),
  // sd-server makes one picture at a time.
  concurrency: binding.concurrency ?? (binding.dialect === 'sd-server' ? 1 : null),
  ...(binding.duration_policy && { durationPolicy: binding.duration_policy }),
  // An http provider may have charged for a call without an answer, so the call is not repeated.
  onUnknownOutcome: binding.on_unknown_outcome ?? (binding.provider === 'http' ? 'fail' : null),
  declared: binding,
});

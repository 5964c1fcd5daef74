import type { z } from 'zod';
import { type Setting, setting } from './setting.ts';
import { optionalText, url } from './setting-types.ts';

/** The variables with the credentials and addresses of the providers. `Config.credentials` has their values. */
export const PROVIDER_VARIABLES = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'GEMINI_API_KEY',
  'GEMINI_BASE_URL',
  'ARK_API_KEY',
  'ARK_BASE_URL',
  'FAL_KEY',
  'FAL_BASE_URL',
  'REPLICATE_API_TOKEN',
  'REPLICATE_BASE_URL',
  'COMFYUI_URL',
] as const;
export type ProviderVariable = (typeof PROVIDER_VARIABLES)[number];

type ProviderSetting = Setting<z.ZodType<string | null>>;

export const PROVIDER_SETTINGS = Object.fromEntries(
  PROVIDER_VARIABLES.map((variable): [ProviderVariable, ProviderSetting] => [
    variable,
    variable.endsWith('_URL')
      ? setting(variable, 'providers', url('http', 'https'), 'Address of the API; unset: the default of the provider.')
      : setting(
          variable,
          'providers',
          optionalText(),
          'Credential; unset: the next provider in line serves its models.',
        ),
  ]),
) as Record<ProviderVariable, ProviderSetting>;

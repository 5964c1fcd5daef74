import { arkProvider } from '../ark/ark.provider.ts';
import { ComfyuiProvider } from '../comfyui/comfyui.provider.ts';
import { falProvider } from '../fal/fal.provider.ts';
import { GeminiProvider } from '../gemini/gemini.provider.ts';
import { OpenaiProvider } from '../openai/openai.provider.ts';
import { replicateProvider } from '../replicate/replicate.provider.ts';
import type { ProviderName } from './binding.ts';

/** The parameters that an adapter sends by its own translation. The sandbox draws whatever it gets. */
export const TAKEN: Readonly<Record<Exclude<ProviderName, 'sandbox'>, readonly string[]>> = {
  openai: new OpenaiProvider().takes,
  gemini: new GeminiProvider().takes,
  ark: arkProvider.takes,
  fal: falProvider.takes,
  replicate: replicateProvider.takes,
  comfyui: new ComfyuiProvider().takes,
};

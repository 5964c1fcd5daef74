import type { Template } from '../template.ts';
import { type Flux2, flux2Workflow } from './flux-2.ts';

// Clients choose nano-banana-pro for its quality, so this template uses the full FLUX.2. That model takes up to ten
// reference images.
const DEV: Flux2 = {
  diffusionModel: 'flux2_dev_fp8mixed.safetensors',
  textEncoder: 'mistral_3_small_flux2_bf16.safetensors',
  steps: 20,
  guidance: 4,
};

/** FLUX.2 dev. */
export const nanoBananaPro: Template = {
  workflows: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((references) => flux2Workflow(DEV, references)),
};

import type { Template } from '../template.ts';
import { type Flux2, flux2Workflow } from './flux-2.ts';

// Clients choose this model for its speed, so this is the one distilled to four steps. Accepts up to four reference
// images.
const KLEIN: Flux2 = {
  diffusionModel: 'flux-2-klein-4b.safetensors',
  textEncoder: 'qwen_3_4b.safetensors',
  steps: 4,
  guidance: null,
};

/** FLUX.2 klein 4B. */
export const nanoBanana2: Template = {
  workflows: [0, 1, 2, 3, 4].map((references) => flux2Workflow(KLEIN, references)),
};

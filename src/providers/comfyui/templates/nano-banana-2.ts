import type { Template } from '../template.ts';
import { type Flux2, flux2Workflow } from './flux-2.ts';

// Clients choose nano-banana-2 for its speed, so this template uses the FLUX.2 that is distilled to four steps. That
// model takes up to four reference images.
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

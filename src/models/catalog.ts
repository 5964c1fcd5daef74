import { gptImage2 } from './catalog/gpt-image-2.ts';
import { nanoBanana2 } from './catalog/nano-banana-2.ts';
import { nanoBananaPro } from './catalog/nano-banana-pro.ts';
import { seedance2 } from './catalog/seedance-2.ts';
import { sora2 } from './catalog/sora-2.ts';
import type { Model } from './model.ts';

/** Every model, in the order clients see. A new model is a file in `catalog/` and a name here. */
export const MODELS: readonly Model[] = [gptImage2, nanoBanana2, nanoBananaPro, sora2, seedance2];

/** A retired model is found too: its lifecycle tells. */
export function findModel(id: string, models: readonly Model[] = MODELS): Model | undefined {
  return models.find((model) => model.id === id);
}

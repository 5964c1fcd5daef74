import { gptImage2 } from './catalog/gpt-image-2.ts';
import { nanoBanana2 } from './catalog/nano-banana-2.ts';
import { nanoBananaPro } from './catalog/nano-banana-pro.ts';
import { seedance2 } from './catalog/seedance-2.ts';
import { sora2 } from './catalog/sora-2.ts';
import type { Model } from './definition/model.ts';

/** Every model in public order. To add one, write a file in `catalog/` and list it here. */
export const MODELS: readonly Model[] = [gptImage2, nanoBanana2, nanoBananaPro, sora2, seedance2];

/** Also finds retired models; check the lifecycle. */
export function findModel(id: string, models: readonly Model[] = MODELS): Model | undefined {
  return models.find((model) => model.id === id);
}

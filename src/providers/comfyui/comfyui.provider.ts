import { cancelJobs } from '../jobs/run-jobs.ts';
import type { PreparedRequest, Provider, ProviderRequest } from '../contract/provider.ts';
import { comfyPlan } from './comfy-plan.ts';
import { ComfyRun } from './comfy-run.ts';
import { cancelRun, isKnown } from './comfy-server.ts';
import { promptId } from './prompt-id.ts';

/**
 * The operator's own ComfyUI server. The service chooses the ids of its runs, so a run whose submission got no answer
 * can be looked up.
 */
export const comfyuiProvider = {
  name: 'comfyui',
  takes: [
    'prompt',
    'aspect_ratio',
    'resolution',
    'n',
    'reference_images',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'last_frame_image_url',
    'mask',
    'reference_image_url',
    'size',
    'seed',
  ],

  prepare(request: ProviderRequest): PreparedRequest {
    const plan = comfyPlan(request);
    return {
      approximations: plan.approximations,
      generate: (run) => new ComfyRun(request, plan, run).generate(),
    };
  },

  async find(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
    const id = promptId(request.taskId, 0);
    return (await isKnown(request, id, signal)) ? id : null;
  },

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<true | void> {
    return cancelJobs(upstreamId, (id) => cancelRun(request, id, signal));
  },
} satisfies Provider;

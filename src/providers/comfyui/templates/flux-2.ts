import type { Workflow } from '../workflow.ts';

/** The files of a FLUX.2 model, named as in ComfyUI's own templates, and its sampling settings. */
export interface Flux2 {
  diffusionModel: string;
  textEncoder: string;
  steps: number;
  /** Strength of the guidance that the full model has built in; null for a distilled model, which has none. */
  guidance: number | null;
}

/** FLUX.2 with ComfyUI's built-in nodes. Each reference image is encoded and chained into the conditioning. */
export function flux2Workflow(model: Flux2, references: number): Workflow {
  const images = Array.from({ length: references }, (_, i) => i + 1);
  const text = references === 0 ? 'text' : `reference_${references}`;
  return {
    model: { class_type: 'UNETLoader', inputs: { unet_name: model.diffusionModel, weight_dtype: 'default' } },
    clip: { class_type: 'CLIPLoader', inputs: { clip_name: model.textEncoder, type: 'flux2', device: 'default' } },
    vae: { class_type: 'VAELoader', inputs: { vae_name: 'flux2-vae.safetensors' } },
    text: { class_type: 'CLIPTextEncode', inputs: { clip: ['clip', 0], text: '{{prompt}}' } },
    ...Object.assign({}, ...images.map((k) => reference(k))),
    ...guider(model, text),
    noise: { class_type: 'RandomNoise', inputs: { noise_seed: '{{seed}}' } },
    sampler: { class_type: 'KSamplerSelect', inputs: { sampler_name: 'euler' } },
    sigmas: {
      class_type: 'Flux2Scheduler',
      inputs: { steps: model.steps, width: '{{width}}', height: '{{height}}' },
    },
    latent: {
      class_type: 'EmptyFlux2LatentImage',
      inputs: { width: '{{width}}', height: '{{height}}', batch_size: '{{batch_size}}' },
    },
    sample: {
      class_type: 'SamplerCustomAdvanced',
      inputs: {
        noise: ['noise', 0],
        guider: ['guider', 0],
        sampler: ['sampler', 0],
        sigmas: ['sigmas', 0],
        latent_image: ['latent', 0],
      },
    },
    decode: { class_type: 'VAEDecode', inputs: { samples: ['sample', 0], vae: ['vae', 0] } },
    save: { class_type: 'SaveImage', inputs: { images: ['decode', 0], filename_prefix: 'darkroom/flux2' } },
  };
}

/**
 * The nodes of a reference image. It is scaled to about one megapixel first, because more pixels cost memory without a
 * benefit for the model.
 */
function reference(k: number): Workflow {
  return {
    [`image_${k}`]: { class_type: 'LoadImage', inputs: { image: `{{image_${k}}}` } },
    [`scaled_${k}`]: { class_type: 'FluxKontextImageScale', inputs: { image: [`image_${k}`, 0] } },
    [`encoded_${k}`]: { class_type: 'VAEEncode', inputs: { pixels: [`scaled_${k}`, 0], vae: ['vae', 0] } },
    [`reference_${k}`]: {
      class_type: 'ReferenceLatent',
      inputs: { conditioning: [k === 1 ? 'text' : `reference_${k - 1}`, 0], latent: [`encoded_${k}`, 0] },
    },
  };
}

function guider({ guidance }: Flux2, conditioning: string): Workflow {
  if (guidance === null) {
    return {
      nothing: { class_type: 'ConditioningZeroOut', inputs: { conditioning: [conditioning, 0] } },
      guider: {
        class_type: 'CFGGuider',
        inputs: { model: ['model', 0], positive: [conditioning, 0], negative: ['nothing', 0], cfg: 1 },
      },
    };
  }
  return {
    guidance: { class_type: 'FluxGuidance', inputs: { conditioning: [conditioning, 0], guidance } },
    guider: { class_type: 'BasicGuider', inputs: { model: ['model', 0], conditioning: ['guidance', 0] } },
  };
}

import type { Template } from '../template.ts';
import type { Workflow } from '../workflow.ts';

/** Qwen-Image. With reference images it is Qwen-Image-Edit, whose text encoder node accepts up to three images. */
export const gptImage2: Template = {
  workflows: [textToImage(), ...[1, 2, 3].map((references) => withReferences(references))],
};

function textToImage(): Workflow {
  const encode = (text: string) => ({ class_type: 'CLIPTextEncode', inputs: { clip: ['clip', 0], text } });
  return {
    ...loaders('qwen_image_fp8_e4m3fn.safetensors'),
    shift: { class_type: 'ModelSamplingAuraFlow', inputs: { model: ['model', 0], shift: 3.5 } },
    positive: encode('{{prompt}}'),
    negative: encode(''),
    ...sampling('shift', 4),
  };
}

function withReferences(references: number): Workflow {
  const numbers = Array.from({ length: references }, (_, i) => i + 1);
  const images = Object.fromEntries(numbers.map((k) => [`image${k}`, [`image_${k}`, 0]]));
  const encode = (prompt: string) => ({
    class_type: 'TextEncodeQwenImageEditPlus',
    inputs: { clip: ['clip', 0], vae: ['vae', 0], ...images, prompt },
  });
  const loads = numbers.map((k) => [`image_${k}`, { class_type: 'LoadImage', inputs: { image: `{{image_${k}}}` } }]);
  return {
    ...loaders('qwen_image_edit_2509_fp8_e4m3fn.safetensors'),
    shift: { class_type: 'ModelSamplingAuraFlow', inputs: { model: ['model', 0], shift: 3 } },
    norm: { class_type: 'CFGNorm', inputs: { model: ['shift', 0], strength: 1 } },
    ...(Object.fromEntries(loads) as Workflow),
    positive: encode('{{prompt}}'),
    negative: encode(''),
    ...sampling('norm', 2.5),
  };
}

function loaders(diffusionModel: string): Workflow {
  return {
    model: { class_type: 'UNETLoader', inputs: { unet_name: diffusionModel, weight_dtype: 'default' } },
    clip: {
      class_type: 'CLIPLoader',
      inputs: { clip_name: 'qwen_2.5_vl_7b_fp8_scaled.safetensors', type: 'qwen_image', device: 'default' },
    },
    vae: { class_type: 'VAELoader', inputs: { vae_name: 'qwen_image_vae.safetensors' } },
  };
}

function sampling(model: string, cfg: number): Workflow {
  return {
    latent: {
      class_type: 'EmptySD3LatentImage',
      inputs: { width: '{{width}}', height: '{{height}}', batch_size: '{{batch_size}}' },
    },
    sample: {
      class_type: 'KSampler',
      inputs: {
        model: [model, 0],
        positive: ['positive', 0],
        negative: ['negative', 0],
        latent_image: ['latent', 0],
        seed: '{{seed}}',
        steps: 20,
        cfg,
        sampler_name: 'euler',
        scheduler: 'simple',
        denoise: 1,
      },
    },
    decode: { class_type: 'VAEDecode', inputs: { samples: ['sample', 0], vae: ['vae', 0] } },
    save: { class_type: 'SaveImage', inputs: { images: ['decode', 0], filename_prefix: 'darkroom/qwen-image' } },
  };
}

import { Command } from 'commander';
import { number, wholeNumber } from '../options.ts';

/** Names of the public API's parameters, in commander's case. */
interface GenerateOptions {
  model: string;
  out: string;
  aspectRatio?: string;
  resolution?: string;
  n?: number;
  duration?: number;
  referenceImage?: string[];
  firstFrame?: string;
  referenceMode?: string;
  url: string;
  key?: string;
  json?: true;
}

/** `darkroom generate "<prompt>"`: a client like any other; speaks to the service over HTTP. */
export function generateCommand(): Command {
  return new Command('generate')
    .description('Make an image or a video and save it.')
    .argument('<prompt>')
    .requiredOption('--model <id>', 'gpt-image-2, nano-banana-2, nano-banana-pro, sora-2, seedance-2')
    .option('--out <path>', 'a folder, or a file name where one file comes out', '.')
    .option('--aspect-ratio <ratio>', 'such as 16:9')
    .option('--resolution <resolution>', 'such as 2K or 1080P')
    .option('--n <count>', 'how many images', wholeNumber)
    .option('--duration <seconds>', 'length of a video', number)
    .option('--reference-image <url...>', 'images to go by')
    .option('--first-frame <url>', 'image that a video begins with')
    .option('--reference-mode <mode>', 'how a video uses its images')
    .option(
      '--url <url>',
      'address of the service; or DARKROOM_URL',
      process.env.DARKROOM_URL || 'http://127.0.0.1:3000',
    )
    .option('--key <key>', 'API key; better DARKROOM_API_KEY, which other users of the machine cannot see')
    .option('--json', 'print the final task as JSON')
    .action(async (prompt: string, options: GenerateOptions) => {
      const { run } = await import('./generate-run.ts');
      await run(parametersOf(prompt, options), { ...options, key: options.key ?? process.env.DARKROOM_API_KEY });
    });
}

/** Only what was given: defaults and rules are the service's. seedance-2 knows its one reference image by another name. */
function parametersOf(prompt: string, options: GenerateOptions): Record<string, unknown> {
  const images = options.referenceImage;
  const parameters = {
    model: options.model,
    prompt,
    aspect_ratio: options.aspectRatio,
    resolution: options.resolution,
    n: options.n,
    duration: options.duration,
    ...(options.model === 'seedance-2' && images?.length === 1
      ? { reference_image_url: images[0] }
      : { reference_images: images }),
    first_frame_image_url: options.firstFrame,
    reference_mode: options.referenceMode,
  };
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

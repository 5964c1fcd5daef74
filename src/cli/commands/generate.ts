import { Command } from 'commander';
import type { GenerationRequest, Model } from '@darkroom/client';
import { connect, connected } from '../client/connect.ts';
import { followRun } from '../client/follow-run.ts';
import { number, pair, wholeNumber } from '../terminal/options.ts';

interface Options {
  model?: string;
  out: string;
  aspectRatio?: string;
  resolution?: string;
  n?: number;
  quality?: string;
  outputFormat?: string;
  outputCompression?: number;
  duration?: number;
  referenceImage?: string[];
  firstFrame?: string;
  file?: string[];
  referenceMode?: string;
  set?: Record<string, string>;
  url: string;
  key?: string;
  json?: true;
  open?: true;
}

/** `darkroom generate "<prompt>"`: calls the service over HTTP, as any client does. */
export function generateCommand(): Command {
  const command = new Command('generate')
    .description('Generate an image or a video and save it.')
    .argument('<prompt>')
    .option('--model <id>', 'id of a model; left out: the first that npx darkroom models lists')
    .option('--out <path>', 'output folder, or a file name if the task makes one file', '.')
    .option('--aspect-ratio <ratio>', 'for example 16:9')
    .option('--resolution <resolution>', 'for example 2K or 1080P')
    .option('--n <count>', 'number of images', wholeNumber)
    .option('--quality <quality>', 'for example high')
    .option('--output-format <format>', 'png, jpeg or webp; as the provider made it when left out')
    .option('--output-compression <percent>', 'quality of the encoder, for jpeg and webp', wholeNumber)
    .option('--duration <seconds>', 'length of the video', number)
    .option('--reference-image <url...>', 'reference images')
    .option('--first-frame <url>', 'image that the video starts with')
    .option('--file <path...>', 'images of this machine: reference images, or for a video its first frame')
    .option('--reference-mode <mode>', 'how the images guide the video')
    .option('--set <name=value...>', 'any other parameter of the model, for example seed=7 or x_steps=20', pair)
    .option('--open', 'show the files in the browser of this machine')
    .action(async (prompt: string, options: Options) => {
      const { models } = connect(options);
      const chosen = { ...options, model: options.model ?? firstRecommendation(await models.list(), options) };
      const needsModel = options.file || options.referenceImage || options.set;
      const model = needsModel ? await models.get(chosen.model) : null;
      const given = options.file ? withFiles(chosen, model, await upload(options.file, options)) : chosen;
      await run(parametersOf(prompt, given, model), options);
    });
  return connected(command, 'generate "A red bicycle" --out bicycle.png');
}

/**
 * The first available model of a kind; if none is available, the first of the kind. The kind is video if an option asks
 * for a video, or if the first model that has all parameters of --set makes videos. Otherwise the kind is image.
 * @throws Error if no model of the kind is served
 */
export function firstRecommendation(
  models: readonly Pick<Model, 'id' | 'kind' | 'available' | 'parameters'>[],
  { duration, firstFrame, referenceMode, set = {} }: Pick<Options, 'duration' | 'firstFrame' | 'referenceMode' | 'set'>,
): string {
  const names = Object.keys(set);
  const taker = models.find(({ parameters }) =>
    names.every((name) => name in ((parameters.properties as object | undefined) ?? {})),
  );
  const isVideo =
    [duration, firstFrame, referenceMode].some((given) => given !== undefined) ||
    (names.length > 0 && taker?.kind === 'video');
  const kind = isVideo ? 'video' : 'image';
  const ofKind = models.filter((model) => model.kind === kind);
  const model = ofKind.find(({ available }) => available) ?? ofKind[0];
  if (!model) throw new Error(`No ${kind} model is served here. \`npx darkroom models\` lists the models.`);
  return model.id;
}

/** @returns the ids of the files */
async function upload(paths: string[], options: Options): Promise<string[]> {
  const { files } = connect(options);
  const ids: string[] = [];
  for (const path of paths) ids.push((await files.upload(path)).id);
  return ids;
}

/**
 * A single file becomes the first frame of a video, unless --first-frame is given. In all other cases the files are
 * references.
 */
function withFiles(options: Options, model: Model | null, ids: string[]): Options {
  const isVideo = model?.kind === 'video';
  if (isVideo && options.firstFrame === undefined && ids.length === 1) return { ...options, firstFrame: ids[0]! };
  return { ...options, referenceImage: [...(options.referenceImage ?? []), ...ids] };
}

/** Sends only the options that were given, because the service has the defaults and the rules. */
function parametersOf(prompt: string, options: Options, model: Model | null): Record<string, unknown> {
  const images = options.referenceImage;
  const { properties = {} } = (model?.parameters ?? {}) as { properties?: Record<string, { type?: string }> };
  const others = Object.entries(options.set ?? {});
  const takesOneImage = 'reference_image_url' in properties;
  const parameters = {
    model: options.model,
    prompt,
    aspect_ratio: options.aspectRatio,
    resolution: options.resolution,
    n: options.n,
    quality: options.quality,
    output_format: options.outputFormat,
    output_compression: options.outputCompression,
    duration: options.duration,
    ...(takesOneImage && images?.length === 1 ? { reference_image_url: images[0] } : { reference_images: images }),
    first_frame_image_url: options.firstFrame,
    reference_mode: options.referenceMode,
    ...Object.fromEntries(others.map(([name, text]) => [name, valueOf(text, properties[name]?.type)])),
  };
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

/**
 * Reads a value of the command line as JSON, unless the parameter is a text or unknown. A value that is not valid JSON
 * stays text, and the service refuses it.
 */
function valueOf(text: string, type = 'string'): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws TaskFailedError when the task fails */
export async function run(
  parameters: Record<string, unknown>,
  options: Pick<Options, 'url' | 'key' | 'out' | 'json' | 'open'>,
): Promise<void> {
  // The service checks the parameters, and its messages name them.
  const created = await connect(options).generate(parameters as unknown as GenerationRequest);
  await followRun(created, options);
}

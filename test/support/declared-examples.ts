import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Api } from './clients/api.ts';
import { FilesClient } from './clients/files.ts';

const FOLDER = new URL('./declarations/', import.meta.url);

/** Copies the declarations of this folder, without the dates on which a model ends. @returns their ids */
export function writeExamples(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const names = readdirSync(FOLDER);
  for (const name of names) {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    writeFileSync(join(folder, name), text.replace(/^lifecycle: .*\n/m, ''));
  }
  return names.filter((name) => name.endsWith('.yaml')).map((name) => name.replace('.yaml', ''));
}

export interface Example {
  model: string;
  kind: 'image' | 'video';
  /** Values for every parameter of the model but the prompt. OpenAI's routes have a format by default. */
  input: Readonly<Record<string, unknown>>;
  /** The size in pixels of its ratio and resolution. */
  pixels?: string;
}

/** Uploads the pictures of the examples for this key. */
export async function examplesFor(api: Api): Promise<Example[]> {
  // White is the part of a mask that changes.
  const pictures = ['#336699', '#ffffff'].map((background) =>
    sharp({ create: { width: 64, height: 96, channels: 3, background } })
      .png()
      .toBuffer(),
  );
  const files = new FilesClient(api);
  const [file, other] = [await files.upload(await pictures[0]!), await files.upload(await pictures[1]!)];
  return examplesWith(file.body.id, other.body.id);
}

const examplesWith = (file: string, other: string): Example[] => [
  {
    model: 'qwen-image',
    kind: 'image',
    input: {
      negative_prompt: 'blur',
      reference_images: [file],
      mask: other,
      strength: 0.4,
      size: '512x768',
      n: 2,
      seed: 7,
      x_steps: 8,
      output_format: 'png',
    },
  },
  { model: 'flux-local', kind: 'image', input: { size: '512x768', seed: 7, x_steps: 8, output_format: 'png' } },
  {
    model: 'sdxl',
    kind: 'image',
    input: {
      negative_prompt: 'blur',
      aspect_ratio: '3:2',
      resolution: '1K',
      n: 2,
      seed: 7,
      x_steps: 8,
      output_format: 'png',
    },
    pixels: '1216x832',
  },
  {
    model: 'gpt-image-as-shipped',
    kind: 'image',
    input: {
      reference_images: [file, other],
      mask: other,
      aspect_ratio: '3:2',
      resolution: '2K',
      n: 2,
      quality: 'high',
      background: 'opaque',
      output_format: 'png',
    },
    pixels: '2016x1344',
  },
  {
    model: 'kling-3',
    kind: 'video',
    input: {
      negative_prompt: 'blur',
      first_frame_image_url: file,
      last_frame_image_url: other,
      aspect_ratio: '9:16',
      resolution: '1080p',
      duration: 3,
      generate_audio: false,
      x_cfg: 0.25,
    },
    pixels: '1080x1920',
  },
  {
    model: 'acme-film',
    kind: 'video',
    input: { aspect_ratio: '9:16', resolution: '720p', duration: 10, seed: 7 },
    pixels: '720x1280',
  },
];

import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

/**
 * The body of POST /v1/generations for GraphQL, which must declare every field by name. This class declares the
 * parameters that models share. `extra` takes the x_ parameters, each of which only one model has. The schema of the
 * model decides which fields and values are allowed, as for REST.
 */
@InputType({ description: 'What to make. `Model.parameters` defines which fields a model takes.' })
export class CreateGenerationInput {
  @ApiField.string('id of the model', { example: 'gpt-image-2' }) model: string;
  @ApiField.string('what to make, in words') prompt: string;
  @ApiField.list('string', 'images to follow or to edit: URLs, ids of files, or data: URLs', { optional: true })
  reference_images?: string[];
  @ApiField.string('the image that a video starts from: a URL, the id of a file, or a data: URL', { optional: true })
  first_frame_image_url?: string;
  @ApiField.string('an image that a video follows: a URL, the id of a file, or a data: URL', { optional: true })
  reference_image_url?: string;
  @ApiField.string('how the images guide the video', { optional: true }) reference_mode?: string;
  @ApiField.string('width to height', { optional: true, example: '16:9' }) aspect_ratio?: string;
  @ApiField.string('size class; letter case counts', { optional: true, example: '1080P' }) resolution?: string;
  @ApiField.integer('how many images to make', { optional: true }) n?: number;
  @ApiField.string('how much work the model puts into an image', { optional: true, example: 'high' }) quality?: string;
  @ApiField.string('file format of the images: png, jpeg or webp', { optional: true }) output_format?: string;
  @ApiField.integer('quality of the encoder in percent, for jpeg and webp', { optional: true })
  output_compression?: number;
  @ApiField.integer('length of the video in seconds', { optional: true }) duration?: number;
  @ApiField.string('what the result must not show, in words', { optional: true }) negative_prompt?: string;
  @ApiField.string('which part of the first image to change: a URL, the id of a file, or a data: URL', {
    optional: true,
  })
  mask?: string;
  @ApiField.number('how far to go from the first image: 0 keeps it, 1 ignores it', { optional: true })
  strength?: number;
  @ApiField.string('exact pixels, in place of aspectRatio and resolution', { optional: true, example: '1024x768' })
  size?: string;
  @ApiField.string('auto, opaque or transparent', { optional: true }) background?: string;
  @ApiField.long('the same seed with the same parameters gives a similar result', { optional: true }) seed?: number;
  @ApiField.string('the image that a video ends with: a URL, the id of a file, or a data: URL', { optional: true })
  last_frame_image_url?: string;
  @ApiField.list('string', 'videos to follow: URLs or ids of files', { optional: true }) reference_videos?: string[];
  @ApiField.list('string', 'sounds to follow: URLs or ids of files', { optional: true }) reference_audios?: string[];
  @ApiField.string('the video to change: a URL or the id of a file', { optional: true }) source_video?: string;
  @ApiField.string('edit or extend', { optional: true }) source_mode?: string;
  @ApiField.boolean('whether the video has sound', { optional: true }) generate_audio?: boolean;
  @ApiField.integer('frames a second', { optional: true }) fps?: number;
  @ApiField.json('parameters that only this model has, by their names: {"x_steps": 20}', { optional: true })
  extra?: Record<string, unknown>;
  @ApiField.map('up to 16 key-value pairs of text, returned unchanged with the task', { optional: true })
  metadata?: Record<string, string>;
  @ApiField.string('normal, which is the default, or low: the task waits behind those of normal priority', {
    optional: true,
  })
  priority?: string;
  @ApiField.string('id of your task that this one is made from', { optional: true }) parent_task_id?: string;
}

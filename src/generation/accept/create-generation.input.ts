import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

/**
 * The body of POST /v1/generations for GraphQL, which needs every field by name: the fields of all models together. The model's
 * own schema defines which of them it takes with which values, and the same code checks them as for REST.
 */
@InputType({ description: 'What to make. `Model.parameters` defines which fields a model takes.' })
export class CreateGenerationInput {
  @ApiField.string('id of the model', { example: 'gpt-image-2' }) model: string;
  @ApiField.string('what to make, in words') prompt: string;
  @ApiField.list('string', 'URLs of images to follow or to edit', { optional: true }) reference_images?: string[];
  @ApiField.string('URL of the image that a video starts from', { optional: true })
  first_frame_image_url?: string;
  @ApiField.string('URL of an image that a video follows', { optional: true }) reference_image_url?: string;
  @ApiField.string('how the images guide the video', { optional: true }) reference_mode?: string;
  @ApiField.string('width to height', { optional: true, example: '16:9' }) aspect_ratio?: string;
  @ApiField.string('size class; letter case counts', { optional: true, example: '1080P' }) resolution?: string;
  @ApiField.integer('how many images to make', { optional: true }) n?: number;
  @ApiField.integer('length of the video in seconds', { optional: true }) duration?: number;
  @ApiField.map('up to 16 key-value pairs of text, returned unchanged with the task', { optional: true })
  metadata?: Record<string, string>;
}

import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

/**
 * The body of POST /v1/generations for GraphQL, which must know every field by name: those of all models. Which of them
 * a model takes, and their values, are said by its own schema, and checked by the same code as for REST.
 */
@InputType({ description: 'What to make. Which fields a model takes is in `Model.parameters`.' })
export class CreateGenerationInput {
  @ApiField.string('id of the model', { example: 'gpt-image-2' }) model: string;
  @ApiField.string('what to make, in words') prompt: string;
  @ApiField.list('string', 'addresses of pictures to work from', { optional: true }) reference_images?: string[];
  @ApiField.string('address of the picture that a video starts with', { optional: true })
  first_frame_image_url?: string;
  @ApiField.string('address of a picture that a video is to resemble', { optional: true }) reference_image_url?: string;
  @ApiField.string('how the pictures are used', { optional: true }) reference_mode?: string;
  @ApiField.string('shape, width to height', { optional: true, example: '16:9' }) aspect_ratio?: string;
  @ApiField.string('size class; letter case counts', { optional: true, example: '1080P' }) resolution?: string;
  @ApiField.integer('how many pictures', { optional: true }) n?: number;
  @ApiField.integer('seconds of video', { optional: true }) duration?: number;
  @ApiField.map('up to 16 pairs of texts that come back with the task', { optional: true })
  metadata?: Record<string, string>;
}

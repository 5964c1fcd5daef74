import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';
import type { Model } from './definition/model.ts';

const SIZES = ['table', 'pixels', 'both'] as const;
const SizeChoice = defineChoice('ModelSizes', SIZES, 'How a request gives the size of what is made.');

@ObjectType('ModelCapabilities', { description: 'What a model can do. It follows from its parameters.' })
export class ModelCapabilitiesView {
  @ApiField.boolean('whether it changes images that are given') edits: boolean;
  @ApiField.boolean('whether a mask says which part to change') mask: boolean;
  @ApiField.boolean('whether a video can start from an image') first_frame: boolean;
  @ApiField.boolean('whether a video can end with an image') last_frame: boolean;
  @ApiField.boolean('whether a request can choose if a video has sound') audio: boolean;
  @ApiField.boolean('whether a request may give the seed') seed: boolean;
  @ApiField.boolean('whether a request may have a negative prompt') negative_prompt: boolean;
  @ApiField.boolean('whether it changes videos that are given') source_video: boolean;
  @ApiField.integer('images to follow or to edit; 0: none') max_reference_images: number;
  @ApiField.oneOf(SizeChoice, 'table: by ratio and resolution; pixels: by width and height')
  size: (typeof SIZES)[number];
  @ApiField.list('string', 'parameters that only this model has') own_parameters: string[];
}

export function capabilitiesOf({ parameters: { properties }, pixels, sizes }: Model): ModelCapabilitiesView {
  const takes = (name: string): boolean => Object.hasOwn(properties, name);
  const hasTable = Object.keys(sizes).length > 0;
  return {
    edits: takes('reference_images') || takes('source_video'),
    mask: takes('mask'),
    first_frame: takes('first_frame_image_url'),
    last_frame: takes('last_frame_image_url'),
    audio: takes('generate_audio'),
    seed: takes('seed'),
    negative_prompt: takes('negative_prompt'),
    source_video: takes('source_video'),
    max_reference_images: properties.reference_images?.maxItems ?? (takes('reference_image_url') ? 1 : 0),
    size: pixels === null ? 'table' : hasTable ? 'both' : 'pixels',
    own_parameters: Object.keys(properties).filter((name) => name.startsWith('x_')),
  };
}

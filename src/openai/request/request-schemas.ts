import { COMPONENT } from '../../platform/schema/component.ts';

/** Schemas of requests, for people and client generators. `GET /v1/models` says exactly what a model takes. */

const text = (description: string) => ({ type: 'string', description });
const words = (description: string) => ({ ...text(description), minLength: 1 });

const IMAGES = {
  type: 'object',
  required: ['prompt'],
  properties: {
    prompt: words('what to make, in words'),
    model: text('gpt-image-2 when left out'),
    n: { type: 'integer', description: 'how many pictures' },
    size: text('width x height in pixels, or auto; the nearest size of the model is used'),
    quality: text('auto, low, medium or high'),
    output_format: text('png, jpeg or webp'),
    output_compression: { type: 'integer', description: '0 to 100, for jpeg and webp' },
    background: text('auto, opaque, or transparent for models that take it'),
    response_format: text('b64_json or url; when left out b64_json, for dall-e-2 and dall-e-3 url'),
    stream: { type: 'boolean', description: 'answer with server-sent events' },
    partial_images: { type: 'integer', description: '0 to 3: most partial pictures of a stream' },
  },
};

/** Fields that are passed unchanged, because a model takes the same names and values. */
export const AS_GIVEN = ['output_compression'];

export const GENERATION_BODY = { schema: IMAGES };

export const EDIT_BODY = {
  schema: {
    ...IMAGES,
    properties: {
      ...IMAGES.properties,
      images: {
        type: 'array',
        description: 'pictures to edit; in a form, files named image, image[] or image[0]',
        items: { type: 'object', properties: { image_url: text('URL'), file_id: text('id of a file') } },
      },
      mask: {
        type: 'object',
        description:
          'which part of the first picture to change, for models that take a mask: where it is transparent, or white if it has no transparency; in a form a file',
        properties: { image_url: text('URL'), file_id: text('id of a file') },
      },
    },
  },
};

export const VIDEO_BODY = {
  schema: {
    type: 'object',
    required: ['prompt'],
    properties: {
      prompt: words('what to make, in words'),
      model: text('sora-2 when left out'),
      seconds: text('length: 4 when left out'),
      size: text('width x height in pixels; the nearest size of the model is used'),
      input_reference: {
        type: 'object',
        description: 'the first frame; in a form also a file',
        properties: { image_url: text('URL'), file_id: text('id of a file') },
      },
    },
  },
};

export const REMIX_BODY = {
  schema: { type: 'object', required: ['prompt'], properties: { prompt: words('what to make instead, in words') } },
};

const binary = { schema: { type: 'string', format: 'binary' } };

export const VIDEO_BYTES = { 'video/mp4': binary, 'image/webp': binary };

export const DELETED_VIDEO = {
  [COMPONENT]: 'DeletedVideo',
  type: 'object',
  required: ['id', 'object', 'deleted'],
  properties: {
    id: text('identifier that the video had'),
    object: { type: 'string', const: 'video.deleted' },
    deleted: { type: 'boolean', description: 'always true' }, // without const: some generators would make it a string
  },
} as object;

const PICTURES = {
  type: 'object',
  required: ['created', 'data', 'task_id'],
  properties: {
    created: { type: 'integer', format: 'int64', description: 'unix seconds' },
    data: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          b64_json: text('the picture'),
          url: text('a signed link'),
          seed: {
            type: ['integer', 'null'],
            format: 'int64',
            description: 'the seed that was sent to the provider; null: none was',
          },
        },
      },
    },
    background: text('as asked for; opaque when left out'),
    output_format: text('png, jpeg or webp'),
    quality: text('as asked for'),
    size: text('width x height of the first picture'),
    usage: { type: 'object', additionalProperties: true, description: 'tokens, if the provider counted them' },
    safety_identifier: text('as given'),
    task_id: text('the task that made the pictures'),
    approximations: { type: 'array', items: { type: 'object', additionalProperties: true } },
  },
};

export const IMAGES_ANSWER = {
  description: 'the pictures; a stream of server-sent events if the request asked for one',
  content: { 'application/json': { schema: PICTURES }, 'text/event-stream': { schema: { type: 'string' } } },
};

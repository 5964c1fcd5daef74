import { modelArgument, modelsFor, ofKind, unionArguments } from './model-arguments.ts';

const ARGUMENTS = {
  image: ['prompt', 'reference_images', 'aspect_ratio', 'resolution', 'n', 'quality', 'output_format'],
  video: [
    'prompt',
    'first_frame_image_url',
    'reference_image_url',
    'reference_mode',
    'aspect_ratio',
    'resolution',
    'duration',
  ],
} as const;

it.each(['image', 'video'] as const)('describes the arguments of the models that make an %s', (kind) => {
  const models = ofKind(modelsFor({}), kind);
  const named = unionArguments(models, ARGUMENTS[kind]);
  expect(JSON.stringify({ model: modelArgument(models), ...named }, null, 1)).toMatchSnapshot();
});

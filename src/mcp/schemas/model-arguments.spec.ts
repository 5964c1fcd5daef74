import { modelsFor } from '../../models/catalog.ts';
import { modelArgument, ofKind, unionArguments, WORDS } from './model-arguments.ts';

it.each(['image', 'video'] as const)('describes the arguments of the models that make an %s', (kind) => {
  const models = ofKind(modelsFor({}), kind);
  const named = unionArguments(models, ['prompt', ...WORDS]);
  expect(JSON.stringify({ model: modelArgument(models), ...named }, null, 1)).toMatchSnapshot();
});

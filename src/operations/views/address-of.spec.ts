import { addressOf } from './address-of.ts';

const URL = 'https://api.example/v1';

it.each<[string, string[], object]>([
  ['a model that comes with the service', ['gpt-image-2'], { host: 'api.example', credential: 'A_KEY' }],
  ['such a model and one of the folder', ['ink', 'gpt-image-2'], { host: 'api.example', credential: 'A_KEY' }],
  ['a model of the folder, also when its file is gone', ['ink'], { host: null, credential: null }],
  ['no model', [], { host: null, credential: null }],
])('of an address with %s', (_, models, expected) => {
  expect(addressOf(models, URL, 'A_KEY')).toEqual(expected);
});

it('of the sandbox is nothing', () => {
  for (const url of ['', null]) expect(addressOf(['gpt-image-2'], url, null)).toEqual({ host: null, credential: null });
});

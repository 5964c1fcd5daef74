import { requestOfInput } from './graphql-request.ts';

it('puts the parameters of one model beside the others', () => {
  expect(requestOfInput({ model: 'm', prompt: 'x' })).toEqual({ model: 'm', prompt: 'x' });
  expect(requestOfInput({ model: 'm', extra: { x_steps: 20 } })).toEqual({ model: 'm', x_steps: 20 });
});

it.each([
  [{ prompt: 'x' }, 'unknown_parameter', 'extra.prompt'],
  [{ x_steps: 1, model: 'n' }, 'unknown_parameter', 'extra.model'],
  [[], 'invalid_type', 'extra'],
  [null, 'invalid_type', 'extra'],
  ['x_steps', 'invalid_type', 'extra'],
])('refuses %j', (extra, code, param) => {
  expect(() => requestOfInput({ model: 'm', extra })).toThrow(expect.objectContaining({ code, param }));
});

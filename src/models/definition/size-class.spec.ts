import { findModel } from '../catalog.ts';
import { resolutionOf } from './size-class.ts';

const { sizes } = findModel('gpt-image-2')!;

it.each([
  [{ resolution: '2K' }, '2K'],
  [{ size: '1024x1024' }, '1K'],
  [{ size: '1792x1024' }, '1K'],
  [{ size: '2048x2048' }, '2K'],
  [{ size: '3840x1280' }, '2K'],
  [{ size: '3840x2160' }, '4K'],
  [{ size: 'auto' }, undefined],
  [{}, undefined],
])('%j counts as %s', (input, expected) => {
  expect(resolutionOf(sizes, input)).toBe(expected);
});

it('is the larger of two that are equally near', () => {
  const two = { '1:1': { small: { width: 100, height: 100 }, large: { width: 400, height: 400 } } };
  expect(resolutionOf(two, { size: '200x200' })).toBe('large');
});

it('has none without a table', () => {
  expect(resolutionOf({}, { size: '512x512' })).toBeUndefined();
});

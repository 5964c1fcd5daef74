import { writable } from './fonts.ts';

describe('the letters that pictures can show', () => {
  it.each([
    ['A cat', 'A cat'],
    ['A cat 😀 in fog', 'A cat in fog'],
    ['灯台, 夕暮れ', '灯台, 夕暮れ'],
    ['Маяк, сумерки', 'Маяк, сумерки'],
  ])('are those of %s', (text, shown) => expect(writable(text)).toBe(shown));

  it.each([['منارة عند الغسق، بحر'], ['등대, 황혼, 바다'], ['सूर्यास्त, समुद्र'], ['มหาสมุทร 2'], ['😀, 😀']])(
    'are none of %s, where most have no glyph',
    (text) => expect(writable(text)).toBe(''),
  );
});

import { writable } from './fonts.ts';

describe('the letters that pictures can show', () => {
  it.each([
    ['A cat', 'A cat'],
    ['A cat 😀 in fog', 'A cat in fog'],
    ['灯台, 夕暮れ', '灯台, 夕暮れ'],
    ['Маяк, сумерки', 'Маяк, сумерки'],
    ['😀, a cat 🎉, in fog, 😀', 'a cat, in fog'],
    ['2️⃣ cats', '2 cats'],
  ])('are those of %s', (text, shown) => expect(writable(text)).toBe(shown));

  it.each([
    ['منارة عند الغسق، بحر'],
    ['מגדלור, ים'],
    ['등대, 황혼, 바다'],
    ['सूर्यास्त, समुद्र'],
    ['มหาสมุทร 2'],
    ['A cat, שלום, a dog'],
    ['😀, 😀'],
    ['…, !'],
  ])('are none of %s, which has letters without a glyph or none at all', (text) => expect(writable(text)).toBe(''));
});

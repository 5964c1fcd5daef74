import { entryName } from './entry-name.ts';

it.each([
  [0, 'A lighthouse at dusk', '001-A-lighthouse-at-dusk.png'],
  [99, 'x', '100-x.png'],
  [0, '../../etc/passwd', '001-etc-passwd.png'],
  [0, 'C:\\Windows\\con', '001-C-Windows-con.png'],
  [0, 'con', '001-con.png'],
  [0, 'a\0b\nc\u202ed', '001-a-b-c-d.png'],
  [0, '<script>"&*?|', '001-script.png'],
  [0, '…', '001.png'],
  [0, '', '001.png'],
  [0, 'ночь в городе', '001-ночь-в-городе.png'],
  [0, '灯台', '001-灯台.png'],
  [0, '🦊🦊', '001.png'],
  [0, 'e\u0301', '001-\u00e9.png'],
  [0, `${'ab '.repeat(40)}`, `001-${'ab-'.repeat(16)}ab.png`],
  [0, `${'a'.repeat(49)} b`, `001-${'a'.repeat(49)}.png`],
  [0, '𝒜'.repeat(60), `001-${'𝒜'.repeat(50)}.png`],
])('the name of entry %i, %j, is %j', (index, title, name) => {
  expect(entryName(index, title, '.png')).toBe(name);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
});

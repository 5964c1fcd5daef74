import { bytesOfDataUrl, isDataUrl } from './data-url.ts';

const bytes = Buffer.from([0xff, 0xfb, 0xef, 0xbe, 1, 2, 3, 4]); // in base64 with +, / and =
const base64 = bytes.toString('base64');

describe('a data: URL', () => {
  it.each([
    ['plain', `data:image/png;base64,${base64}`],
    ['with a scheme in capitals', `DATA:image/png;BASE64,${base64}`],
    ['with a space behind the comma', `data:image/png;base64, ${base64}`],
    ['with line breaks', `data:image/png;base64,${base64.slice(0, 4)}\r\n${base64.slice(4)}\n`],
    ['with percent-encoding', `data:image/png;base64,${encodeURIComponent(base64)}`],
    ['with encoded line breaks', `data:image/png;base64,${base64.slice(0, 5)}%0A${base64.slice(5)}%0D%0A`],
    ['without padding', `data:image/png;base64,${base64.replace(/=+$/, '')}`],
    ['in the alphabet for URLs', `data:image/png;base64,${bytes.toString('base64url')}`],
    ['without a type', `data:;base64,${base64}`],
    ['of another type', `data:application/octet-stream;base64,${base64}`],
    ['with parameters', `data:image/png;charset=utf-8;name="a b.png"; base64,${base64}`],
  ])('%s is decoded', (_how, url) => {
    expect(isDataUrl(url)).toBe(true);
    expect(bytesOfDataUrl(url)).toEqual(bytes);
  });

  it.each([
    ['nothing', 'data:image/png;base64,'],
    ['white space only', 'data:image/png;base64, \n'],
    ['other characters', `data:image/png;base64,${base64}!`],
    ['a bad escape sequence', `data:image/png;base64,${base64}%4`],
    ['text', 'data:text/plain,hello'],
    ['no comma', 'data:image/png;base64'],
  ])('with %s is not accepted', (_what, url) => {
    expect(bytesOfDataUrl(url)).toBeNull();
  });
});

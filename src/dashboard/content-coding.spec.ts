import type { BuiltFile, Representation } from './built-files.ts';
import { codingFor } from './content-coding.ts';

const bytes: Representation = { bytes: Buffer.from('x'), etag: '"x"' };
const script: BuiltFile = {
  path: 'a.js',
  contentType: 'text/javascript',
  in: { identity: bytes, gzip: bytes, br: bytes },
};
const picture: BuiltFile = { path: 'a.png', contentType: 'image/png', in: { identity: bytes } };

describe('the content coding of a built file', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.1, gzip; q=1', 'br'], // the smallest that the client takes at all
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', 'identity'],
    ['br;q=many', 'identity'],
  ])('for Accept-Encoding %j is %s', (header, coding) => {
    expect(codingFor(script, header)).toBe(coding);
  });

  it('is identity for a file without a compressed form', () => {
    expect(codingFor(picture, 'br, gzip')).toBe('identity');
  });
});

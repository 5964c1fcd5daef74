import { randomBytes } from 'node:crypto';
import { EmbeddedPictures } from './embedded-pictures.ts';

interface Answer {
  data: { b64_json?: unknown; url?: string }[];
}

/** Reads the answer in chunks. @returns its JSON, and the bytes of each picture */
function read(json: string, chunkBytes: number) {
  const pictures = new EmbeddedPictures('b64_json', 1);
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += chunkBytes) pictures.read(bytes.subarray(at, at + chunkBytes));
  const answer = JSON.parse(Buffer.concat(pictures.end()).toString()) as Answer;
  return {
    answer,
    bytes: answer.data.map(({ b64_json: token }) => (typeof token === 'string' ? pictures.bytesOf(token) : undefined)),
  };
}

const answerWith = (...texts: string[]) =>
  `{"created": 1, "data": [${texts.map((text) => `{"b64_json": "${text}"}`).join(', ')}], "note": "«ü» \\"b64_json\\": \\"no\\""}`;

describe.each([1, 2, 3, 5, 7, 64, 1000, 1_000_000])('an answer in chunks of %i bytes', (chunkBytes) => {
  it('gives the bytes of pictures of every length, and the rest of the JSON', () => {
    const pictures = [...Array.from({ length: 9 }, (_, length) => randomBytes(length)), randomBytes(3000)];
    const { answer, bytes } = read(answerWith(...pictures.map((each) => each.toString('base64'))), chunkBytes);
    expect(bytes.map(String)).toEqual(pictures.map(String));
    expect(answer).toMatchObject({ created: 1, note: '«ü» "b64_json": "no"' });
  });

  const picture = randomBytes(2000);
  const base64 = picture.toString('base64');
  it.each([
    ['behind the head of a data URL', `data:image/png;base64,${base64}`],
    ['behind an escaped head', `data:image\\/png;base64,${base64}`],
    ['without padding', base64.replace(/=+$/, '')],
    ['of the alphabet for URLs', picture.toString('base64url')],
    ['with escaped slashes', base64.replaceAll('/', '\\/')],
    ['with other escapes', base64.replaceAll('+', '\\u002b').replaceAll('/', '\\u002F')],
    ['in escaped lines', base64.replace(/.{76}/g, '$&\\r\\n')],
    ['in lines', base64.replace(/.{76}/g, '$&\n')],
  ])('reads base64 %s', (_, text) => {
    const { bytes } = read(answerWith(text, base64), chunkBytes);
    expect(bytes.map((each) => each?.equals(picture))).toEqual([true, true]);
  });

  it('leaves an answer without pictures as it is', () => {
    const answers = [
      { data: [{ url: 'https://example.test/"b64_json"' }, { b64_json: null }, { b64_json: 7 }] },
      { data: [], error: { message: 'b64_json' } },
    ];
    for (const answer of answers) expect(read(JSON.stringify(answer), chunkBytes).answer).toEqual(answer);
  });
});

it('reads pictures that are larger than its first buffer', () => {
  const pictures = [randomBytes(3_000_001), randomBytes(700_000)];
  const { bytes } = read(answerWith(...pictures.map((each) => each.toString('base64'))), 65_536);
  expect(bytes.map((each, at) => each?.equals(pictures[at]!))).toEqual([true, true]);
});

it('decodes 64 pictures at most, in no more memory than they need', () => {
  const pictures = new EmbeddedPictures('b64_json', 1);
  pictures.expect(40_000_000);
  const json = answerWith(...Array.from({ length: 70 }, () => randomBytes(3).toString('base64')));
  for (const byte of Buffer.from(json)) pictures.read(Buffer.of(byte));
  const { data } = JSON.parse(Buffer.concat(pictures.end()).toString()) as { data: { b64_json: string }[] };
  const decoded = data.flatMap(({ b64_json: token }) => pictures.bytesOf(token) ?? []);
  expect(decoded.map(({ length }) => length)).toEqual(Array(64).fill(3));
  expect(decoded.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0)).toBe(64 * 3);
  expect(data.slice(64).map(({ b64_json: text }) => text.length)).toEqual(Array(6).fill(4));
});

it('knows no token but its own', () => {
  expect(new EmbeddedPictures('b64_json', 1).bytesOf('picture-0')).toBeUndefined();
});

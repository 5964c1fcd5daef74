import { FileLinks } from './file-links.ts';

const FILE = 'file_01jd0000000000000000000000_0';
const NOW = 1_800_000_000_000;
const links = new FileLinks([Buffer.alloc(32, 1)], 'https://darkroom.example', 3600);

function partsOf(url: string): [string, string, string] {
  const { pathname, searchParams } = new URL(url);
  return [pathname.split('/')[3]!, searchParams.get('expires')!, searchParams.get('signature')!];
}

describe('a signed link', () => {
  const { url, expiresAt } = links.sign(FILE, Infinity, NOW);
  const [, expires, signature] = partsOf(url);

  it('points to its file and contains its expiry time', () => {
    expect(url).toMatch(
      new RegExp(`^https://darkroom\\.example/v1/files/${FILE}/content\\?expires=[0-9]+&signature=[\\w-]{43}$`),
    );
    expect(expiresAt).toBe(NOW / 1000 + 3600);
    expect(Number(expires)).toBe(expiresAt);
  });

  it('works until it expires, to the second', () => {
    expect(links.verify(FILE, expires, signature, NOW)).toBe(true);
    expect(links.verify(FILE, expires, signature, expiresAt * 1000 - 1)).toBe(true);
    expect(links.verify(FILE, expires, signature, expiresAt * 1000)).toBe(false);
  });

  it('does not outlive its file', () => {
    expect(links.sign(FILE, NOW / 1000 + 60.5, NOW).expiresAt).toBe(NOW / 1000 + 60);
    expect(links.sign(FILE, NOW / 1000 + 9999, NOW).expiresAt).toBe(expiresAt);
  });

  it('is the same for a quarter of its lifetime, and never works for less than all of it', () => {
    const at = (seconds: number) => links.sign(FILE, Infinity, NOW + seconds * 1000);
    const first = at(0.001);
    expect(first.expiresAt).toBe(NOW / 1000 + 3600 + 900);
    for (const seconds of [1, 450, 899.5, 900]) expect(at(seconds)).toEqual(first);
    expect(at(900.001).expiresAt).toBe(first.expiresAt + 900);
    const stills = [1, 900].map((seconds) => links.signPreview(FILE, 256, Infinity, NOW + seconds * 1000));
    expect(stills[0]).toEqual(stills[1]);
    expect(stills[0]!.expiresAt).toBe(first.expiresAt);
  });

  it.each([1, 2, 3, 7, 77])('rounds a lifetime of %i s to whole seconds, and never down', (ttlS) => {
    const short = new FileLinks([Buffer.alloc(32, 1)], 'https://darkroom.example', ttlS);
    for (let ms = 0; ms < 20_000; ms += 333) {
      const { expiresAt } = short.sign(FILE, Infinity, NOW + ms);
      expect(Number.isInteger(expiresAt)).toBe(true);
      const lifeS = expiresAt - (NOW + ms) / 1000;
      expect(lifeS).toBeGreaterThanOrEqual(ttlS);
      expect(lifeS).toBeLessThan(ttlS + Math.max(1, ttlS / 4));
    }
  });

  it('is refused for another file, with another time, or signed with another secret', () => {
    expect(links.verify(FILE.replace('_0', '_1'), expires, signature, NOW)).toBe(false);
    expect(links.verify(FILE, String(expiresAt + 1), signature, NOW)).toBe(false);
    const stranger = new FileLinks([Buffer.alloc(32, 2)], 'https://darkroom.example', 3600);
    expect(links.verify(...partsOf(stranger.sign(FILE, Infinity, NOW).url), NOW)).toBe(false);
  });

  // The last of 43 base64url characters carries 4 bits: three others decode to the same bytes.
  const twin = String.fromCharCode(signature.charCodeAt(42) + 1);
  it.each([
    ['nothing', undefined, undefined],
    ['no signature', expires, undefined],
    ['an empty one', expires, ''],
    ['two', expires, [signature, signature]],
    ['padding', expires, `${signature}=`],
    ['a short one', expires, signature.slice(1)],
    ['another last letter', expires, signature.slice(0, 42) + twin],
    ['a time that is no number', 'never', signature],
    ['a time with a leading zero', `0${expires}`, signature],
    ['a negative time', `-${expires}`, signature],
  ])('is refused with %s', (_, givenExpires, givenSignature) => {
    expect(links.verify(FILE, givenExpires, givenSignature, NOW)).toBe(false);
  });
});

describe('a link of this service', () => {
  it('is recognised in any spelling of its URL, and taken apart', () => {
    const { url, expiresAt } = links.sign(FILE, Infinity, NOW);
    const own = { fileId: FILE, expires: String(expiresAt), signature: expect.stringMatching(/^[\w-]{43}$/) };
    for (const spelling of [
      url,
      url.replace('https://darkroom', 'HTTPS://DARKROOM'),
      url.replace('.example', '.example:443'),
    ]) {
      expect(links.parse(spelling)).toEqual(own);
    }
    expect(links.parse(url.split('?')[0]!)).toEqual({ fileId: FILE, expires: '', signature: '' });
    const others = ['https://other.example', 'https://darkroom.example/x', 'http://darkroom.example', 'https://darkroom.example:8443']; // prettier-ignore
    for (const base of others) expect(links.parse(url.replace('https://darkroom.example', base))).toBeNull();
    expect(links.parse(url.replace('/content', '/content/x'))).toBeNull();
    expect(links.parse('nonsense')).toBeNull();
  });

  it('never permits to write what it permits to read, or the reverse', () => {
    const [, expires, signature] = partsOf(links.sign(FILE, Infinity, NOW).url);
    const [, until, right] = partsOf(links.signUpload(FILE, 60, NOW).url);
    expect(Number(until)).toBe(NOW / 1000 + 60);
    expect(links.verifyUpload(FILE, until, right, NOW)).toBe(true);
    expect(links.verifyUpload(FILE, expires, signature, NOW)).toBe(false);
    expect(links.verify(FILE, until, right, NOW)).toBe(false);
    expect(links.verifyUpload(FILE, until, right, NOW + 60_000)).toBe(false);
  });

  it('to an archive permits these files, in this order, and nothing else', () => {
    const { searchParams } = new URL(links.signArchive([FILE, 'file_b'], NOW).url);
    const { file_ids, ...signed } = Object.fromEntries(searchParams) as Record<string, string>;
    expect(file_ids).toBe(`${FILE},file_b`);
    expect(links.verifyArchive(file_ids!, signed, NOW)).toBe(true);
    for (const other of [FILE, `file_b,${FILE}`, `${FILE},file_b,file_c`, `${FILE},file_b `, '']) {
      expect(links.verifyArchive(other, signed, NOW)).toBe(false);
    }
    expect(links.verify(file_ids!, signed['expires'], signed['signature'], NOW)).toBe(false);
    expect(links.verifyArchive(file_ids!, signed, Number(signed['expires']) * 1000)).toBe(false);
    const [, expires, signature] = partsOf(links.sign(FILE, Infinity, NOW).url);
    expect(links.verifyArchive(FILE, { expires, signature }, NOW)).toBe(false);
  });
});

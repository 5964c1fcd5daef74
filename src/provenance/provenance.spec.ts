import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import sharp, { type Sharp } from 'sharp';
import { makeSigningCredential } from '../../test/support/servers/certificate.ts';
import { film } from '../../test/support/stubs/media.ts';
import { loadConfig } from '../platform/config/config.ts';
import { C2paSigner } from './c2pa/c2pa-signer.ts';
import { checkCredential } from './c2pa/check-credential.ts';
import { readCredential } from './c2pa/credential.ts';
import { Provenance } from './provenance.ts';

const MADE_BY = { model: 'gpt-image-2', taskId: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' };
const SOURCE_TYPE =
  '<Iptc4xmpExt:DigitalSourceType>http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia</Iptc4xmpExt:DigitalSourceType>';
const C2PA_BOX = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');
const XMP_BOX = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');

let folder: string;
let noise: Sharp;
const opened: Provenance[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-provenance-'));
  const pixels = Buffer.from(Uint8Array.from({ length: 64 * 48 * 3 }, (_, i) => (i * 31 + (i >> 3)) % 256));
  noise = sharp(pixels, { raw: { width: 64, height: 48, channels: 3 } });
});
afterAll(async () => {
  for (const provenance of opened) await provenance.onModuleDestroy();
  await rm(folder, { recursive: true, force: true });
});

function provenanceWith(settings: Record<string, string> = {}): Provenance {
  const provenance = new Provenance(loadConfig(settings));
  // The lines of this class go to a logger that tests cannot silence in any other way.
  Object.assign(provenance, { logger: { debug: () => undefined, warn: () => undefined, error: () => undefined } });
  opened.push(provenance);
  return provenance;
}

const markedBytes = async (bytes: Buffer, contentType: string, settings = {}): Promise<Buffer> => {
  const marked = await provenanceWith(settings).mark({ ...MADE_BY, body: bytes, contentType });
  if (!Buffer.isBuffer(marked)) throw new Error('a picture in memory stays in memory');
  return marked;
};

const xmpOf = async (bytes: Buffer): Promise<string> => (await sharp(bytes).metadata()).xmp?.toString() ?? '';
const pixelsOf = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();

const PICTURES: [string, string, (picture: Sharp) => Promise<Buffer>][] = [
  ['a PNG', 'image/png', (picture) => picture.png().toBuffer()],
  ['a PNG with EXIF and ICC', 'image/png', (picture) => withMore(picture).png().toBuffer()],
  ['a JPEG', 'image/jpeg', (picture) => picture.jpeg().toBuffer()],
  ['a JPEG with EXIF and ICC', 'image/jpeg', (picture) => withMore(picture).jpeg().toBuffer()],
  ['a lossy WebP', 'image/webp', (picture) => picture.webp().toBuffer()],
  [
    'a lossless WebP with alpha',
    'image/webp',
    (picture) => picture.ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
  ],
  ['a WebP with EXIF and ICC', 'image/webp', (picture) => withMore(picture).webp().toBuffer()],
];
const withMore = (picture: Sharp) => picture.withExif({ IFD0: { Copyright: 'kept' } }).withIccProfile('p3');

describe('the mark of a picture', () => {
  it.each(PICTURES)('says in %s that a model made it, and keeps everything else', async (_, contentType, make) => {
    const original = await make(noise.clone());
    const marked = await markedBytes(original, contentType);
    const [before, after] = [await sharp(original).metadata(), await sharp(marked).metadata()];
    expect(after.xmp?.toString()).toContain(SOURCE_TYPE);
    expect(after.xmp?.toString()).toContain('<darkroom:Model>gpt-image-2</darkroom:Model>');
    expect(after.xmp?.toString()).toContain(`<darkroom:TaskId>${MADE_BY.taskId}</darkroom:TaskId>`);
    expect({ ...after, xmp: undefined, xmpAsString: undefined, size: 0 }).toEqual({ ...before, size: 0 });
    expect(await pixelsOf(marked)).toEqual(await pixelsOf(original));
    // A parser that is strict about checksums and lengths.
    await sharp(marked, { failOn: 'warning' }).raw().toBuffer();
  });

  it.each(PICTURES)('keeps the XMP that is in %s', async (_, contentType, make) => {
    const theirs = packet(
      '<rdf:Description rdf:about="uuid:a" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:format="x"/>',
    );
    const marked = await markedBytes(await make(noise.clone().withXmp(theirs)), contentType);
    const xmp = await xmpOf(marked);
    expect(xmp).toContain('dc:format="x"');
    expect(xmp).toContain(SOURCE_TYPE);
    expect(xmp.match(/rdf:about="[^"]*"/g)).toEqual(['rdf:about="uuid:a"', 'rdf:about="uuid:a"']);
    expect(count(marked, Buffer.from('Iptc4xmpExt:DigitalSourceType>'))).toBe(2); // one packet: its begin and its end
  });

  it('is the same for a file on disk, which stays as it is', async () => {
    for (const [name, contentType, make] of PICTURES) {
      const original = await make(noise.clone());
      const path = join(folder, name);
      await writeFile(path, original);
      const marked = await provenanceWith().mark({ ...MADE_BY, body: { path }, contentType });
      expect(await readFile((marked as { path: string }).path)).toEqual(await markedBytes(original, contentType));
      expect(await readFile(path)).toEqual(original);
    }
  });

  it('is left out with PROVENANCE=off, and differs between two tasks in nothing but the task', async () => {
    const original = await noise.clone().png().toBuffer();
    expect(await markedBytes(original, 'image/png', { PROVENANCE: 'off' })).toBe(original);
    const marked = await markedBytes(original, 'image/png');
    const [, ...chunks] = chunksOf(marked);
    const [, ...originals] = chunksOf(original);
    expect(chunks.filter((chunk) => !chunk.includes('XML:com.adobe.xmp'))).toEqual(originals);
    expect(await markedBytes(original, 'image/png')).toEqual(marked);
  });
});

describe('a source type that is there', () => {
  const described = (property: string) =>
    packet(
      `<rdf:Description rdf:about="" xmlns:I="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" ${property}</rdf:Description>`,
    );
  const TERMS = 'http://cv.iptc.org/newscodes/digitalsourcetype';

  it.each([
    ['an attribute', `I:DigitalSourceType="${TERMS}/trainedAlgorithmicMedia">`],
    ['an element', `><I:DigitalSourceType>${TERMS}/compositeWithTrainedAlgorithmicMedia</I:DigitalSourceType>`],
    ['a resource', `><I:DigitalSourceType rdf:resource="${TERMS}/trainedAlgorithmicMedia"/>`],
  ])('stays as %s if it says that a model made the file', async (_, property) => {
    const xmp = await remarked(described(property));
    expect(xmp).toContain(property);
    expect(xmp.match(/DigitalSourceType[= >]/g)?.length).toBe(
      property.startsWith('>') && !property.includes('/>') ? 2 : 1,
    );
    expect(xmp).toContain('darkroom:TaskId');
  });

  it.each([
    ['an attribute', `I:DigitalSourceType="${TERMS}/digitalCapture">`],
    ['an element', `><I:DigitalSourceType>${TERMS}/digitalCapture</I:DigitalSourceType>`],
    ['a resource', `><I:DigitalSourceType rdf:resource="${TERMS}/digitalCapture"/>`],
  ])('is replaced as %s if it says something else', async (_, property) => {
    const xmp = await remarked(described(property));
    expect(xmp).not.toContain('digitalCapture');
    expect(xmp).toContain(SOURCE_TYPE);
  });

  it('and our own properties of an earlier task are replaced', async () => {
    const first = await markedBytes(await noise.clone().png().toBuffer(), 'image/png');
    const again = await provenanceWith().mark({
      body: first,
      contentType: 'image/png',
      model: 'nano-banana-2',
      taskId: 'task_b',
    });
    const xmp = await xmpOf(again as Buffer);
    expect(xmp.match(/<darkroom:\w+>[^<]+/g)).toEqual(['<darkroom:Model>nano-banana-2', '<darkroom:TaskId>task_b']);
    expect(xmp.match(/<Iptc4xmpExt:DigitalSourceType>/g)).toHaveLength(1);
  });

  async function remarked(theirs: string): Promise<string> {
    return xmpOf(await markedBytes(await noise.clone().withXmp(theirs).jpeg().toBuffer(), 'image/jpeg'));
  }
});

describe('the mark of a film', () => {
  it('is behind the film, which stays byte for byte and plays', async () => {
    const original = await film(64, 48, 2);
    const { bytes } = await markedFilm(original);
    expect(bytes.subarray(0, original.length)).toEqual(original);
    expect(bytes.subarray(original.length + 8, original.length + 24)).toEqual(XMP_BOX);
    expect(bytes.readUInt32BE(original.length)).toBe(bytes.length - original.length);
    expect(bytes.subarray(original.length).toString()).toContain(SOURCE_TYPE);
    expect(await described(bytes)).toEqual(await described(original));
  });

  it('replaces an older packet without moving a byte of the film', async () => {
    const original = await film(64, 48, 2);
    const marked = (await markedFilm(original)).bytes;
    const twice = (await markedFilm(marked)).bytes;
    expect(count(twice, XMP_BOX)).toBe(2); // the old one as free space
    expect(twice.toString('latin1', original.length + 4, original.length + 8)).toBe('free');
    expect(count(twice, Buffer.from('darkroom:TaskId>'))).toBe(4);
    expect(await described(twice)).toEqual(await described(original));
  });

  it('closes a last box that reached to the end of the file', async () => {
    const original = Buffer.from(await film(64, 48, 2));
    const last = boxesOf(original).at(-1)!;
    original.writeUInt32BE(0, last.at);
    const { bytes } = await markedFilm(original);
    expect(boxesOf(bytes).map(({ type }) => type)).toEqual([...boxesOf(original).map(({ type }) => type), 'uuid']);
    expect(await described(bytes)).toEqual(await described(original));
  });

  it('leaves the index of fragments at the end', async () => {
    const mfra = Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from('mfra')]);
    const { bytes } = await markedFilm(Buffer.concat([await film(64, 48, 2), mfra]));
    expect(
      boxesOf(bytes)
        .map(({ type }) => type)
        .slice(-2),
    ).toEqual(['uuid', 'mfra']);
  });

  let films = 0;
  async function markedFilm(original: Buffer): Promise<{ bytes: Buffer; path: string }> {
    const path = join(folder, `film-${films++}`);
    await writeFile(path, original);
    const marked = await provenanceWith().mark({ ...MADE_BY, body: { path }, contentType: 'video/mp4' });
    const target = (marked as { path: string }).path;
    expect(target).not.toBe(path);
    return { bytes: await readFile(target), path: target };
  }
});

describe('a file that carries a C2PA manifest', () => {
  const jumbf = Buffer.concat([
    Buffer.from('0000002a6a756d62', 'hex'),
    Buffer.from('000000226a756d64', 'hex'),
    Buffer.from('6332706100110010800000aa00389b71', 'hex'),
    Buffer.from('\x03c2pa\0'),
  ]);

  it.each<[string, string, () => Promise<Buffer>]>([
    ['PNG', 'image/png', async () => insertAt(await noise.clone().png().toBuffer(), 33, pngChunk('caBX', jumbf))],
    ['JPEG', 'image/jpeg', async () => insertAt(await noise.clone().jpeg().toBuffer(), 2, app11(jumbf))],
    ['WebP', 'image/webp', async () => riff(await noise.clone().webp().toBuffer(), 'C2PA', jumbf)],
    ['MP4', 'video/mp4', async () => Buffer.concat([await film(64, 48, 2), uuidBox(C2PA_BOX, jumbf)])],
    [
      'JPEG whose manifest is elsewhere',
      'image/jpeg',
      () => {
        const xmp = '<rdf:Description xmlns:t="http://purl.org/dc/terms/" t:provenance="https://c2pa.example/1"/>';
        return noise.clone().withXmp(packet(xmp)).jpeg().toBuffer();
      },
    ],
  ])('stays as it is: %s', async (_, contentType, make) => {
    const original = await make();
    expect(await markedBytes(original, contentType)).toBe(original);
  });
});

describe('a file that cannot be marked', () => {
  it.each<[string, string, () => Promise<Buffer>]>([
    ['an empty one', 'image/png', async () => Buffer.alloc(0)],
    ['a PNG without its end', 'image/png', async () => (await noise.clone().png().toBuffer()).subarray(0, -12)],
    ['a PNG with a length beyond the file', 'image/png', async () => pngChunkBeyondEnd()],
    [
      'a JPEG that is cut in its header',
      'image/jpeg',
      async () => (await noise.clone().jpeg().toBuffer()).subarray(0, 80),
    ],
    [
      'a JPEG of fill bytes',
      'image/jpeg',
      async () => Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(100_000, 0xff)]),
    ],
    ['a WebP whose length is wrong', 'image/webp', async () => (await noise.clone().webp().toBuffer()).subarray(0, -3)],
    ['an MP4 that is cut', 'video/mp4', async () => (await film(64, 48, 2)).subarray(0, -5)],
    ['an MP4 of zeros', 'video/mp4', async () => Buffer.alloc(1000)],
    ['a JPEG with an XMP packet that is no XML', 'image/jpeg', () => noise.clone().withXmp('none').jpeg().toBuffer()],
    ['a JPEG with a packet that fills its segment', 'image/jpeg', fullSegment],
    [
      'a JPEG whose packet binds a namespace a thousand times',
      'image/jpeg',
      () => noise.clone().withXmp(packet(manyPrefixes)).jpeg().toBuffer(),
    ],
    ['a type that is not known', 'video/webm', async () => Buffer.from('webm')],
  ])('is stored unchanged: %s', async (_, contentType, make) => {
    const original = await make();
    expect(await markedBytes(original, contentType)).toBe(original);
    const path = join(folder, 'unmarkable');
    await writeFile(path, original);
    expect(await provenanceWith().mark({ ...MADE_BY, body: { path }, contentType })).toEqual({ path });
  });

  it('does not stop the signature, unless the file itself is broken', async () => {
    const original = await noise.clone().withXmp('none').jpeg().toBuffer();
    const marked = await markedBytes(original, 'image/jpeg', await signing());
    expect(marked.length).toBeGreaterThan(original.length);
    const broken = original.subarray(0, 80);
    expect(await markedBytes(broken, 'image/jpeg', await signing())).toBe(broken);
  });

  const manyPrefixes = Array.from(
    { length: 1000 },
    (_, i) => `<rdf:Description xmlns:p${i}="http://purl.org/dc/terms/"/>`,
  ).join('');

  async function fullSegment(): Promise<Buffer> {
    const xmp = packet(`<rdf:Description rdf:about="" xmlns:a="urn:a" a:a="${'x'.repeat(65_000)}"/>`);
    return insertAt(await noise.clone().jpeg().toBuffer(), 2, app1(`http://ns.adobe.com/xap/1.0/\0${xmp}`));
  }

  async function pngChunkBeyondEnd(): Promise<Buffer> {
    const png = await noise.clone().png().toBuffer();
    png.writeUInt32BE(0x7fffffff, 33);
    return png;
  }
});

describe('PROVENANCE=c2pa', () => {
  it.each<[string, string, () => Promise<Buffer>]>([
    ['PNG', 'image/png', () => noise.clone().png().toBuffer()],
    ['JPEG', 'image/jpeg', () => noise.clone().jpeg().toBuffer()],
    ['WebP', 'image/webp', () => noise.clone().webp().toBuffer()],
    ['MP4', 'video/mp4', () => film(64, 48, 2)],
  ])('signs a %s over its XMP, in memory and on disk', async (name, contentType, make) => {
    const provenance = provenanceWith(await signing());
    const original = await make();
    const path = join(folder, `signed-${name}`);
    await writeFile(path, original);
    for (const body of [original, { path }]) {
      const marked = await provenance.mark({ ...MADE_BY, body, contentType });
      const bytes = Buffer.isBuffer(marked) ? marked : await readFile(marked.path);
      expect(bytes.toString('latin1')).toContain('darkroom:TaskId');
      expect(bytes.toString('latin1')).toContain('c2pa.created');
      if (contentType === 'video/mp4') expect(await described(bytes)).toEqual(await described(original));
      else expect(await pixelsOf(bytes)).toEqual(await pixelsOf(original));
    }
  });

  it('signs nothing with a certificate that has expired since the start', async () => {
    const credential = readCredential(loadConfig(await signing()));
    const signer = new C2paSigner({ ...credential, expiresAt: new Date(Date.now() - 1000) });
    const png = await noise.clone().png().toBuffer();
    await expect(signer.sign(png, 'image/png', 'gpt-image-2')).rejects.toThrow('has expired');
    await signer.close();
  });

  it('refuses to start with a credential that no reader would accept', async () => {
    await expect(startWith(await signing({ purpose: '2b06010505070301' }))).rejects.toThrow(
      /C2PA_CERT is not accepted/,
    );
    await expect(startWith(await signing({ endsInS: -60 }))).rejects.toThrow(/C2PA_CERT expired on/);
    await expect(startWith(await signing({ startsInS: 600 }))).rejects.toThrow(/C2PA_CERT is not valid before/);
    const [a, b] = [await signing(), await signing()];
    await expect(startWith({ ...a, C2PA_KEY: b.C2PA_KEY })).rejects.toThrow('C2PA_KEY is not the key of the first');
    await expect(startWith({ ...a, C2PA_KEY: a.C2PA_CERT })).rejects.toThrow(
      /C2PA_KEY: .* holds no private key in PEM/,
    );
    await expect(startWith({ ...a, C2PA_CERT: a.C2PA_KEY })).rejects.toThrow(
      /C2PA_CERT: .* holds no certificate in PEM/,
    );
    await expect(startWith({ ...a, C2PA_KEY: '/absent' })).rejects.toThrow('C2PA_KEY: /absent cannot be read (ENOENT)');
    await expect(startWith({ PROVENANCE: 'c2pa' })).rejects.toThrow('C2PA_CERT and C2PA_KEY are required');
  });

  const startWith = async (settings: Record<string, string>) => checkCredential(loadConfig(settings));
});

let credentials = 0;
async function signing(options = {}): Promise<{ PROVENANCE: 'c2pa'; C2PA_CERT: string; C2PA_KEY: string }> {
  const { cert, key } = makeSigningCredential(options);
  const name = join(folder, `credential-${credentials++}`);
  await writeFile(`${name}.cert`, cert);
  await writeFile(`${name}.key`, key);
  return { PROVENANCE: 'c2pa', C2PA_CERT: `${name}.cert`, C2PA_KEY: `${name}.key` };
}

const packet = (description: string) =>
  `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${description}</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

/** What a player needs to know of a film, read by a parser that is not ours. */
async function described(bytes: Buffer) {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = (await input.getPrimaryVideoTrack())!;
  const stats = await track.computePacketStats();
  return { stats, duration: await input.computeDuration(), width: await track.getDisplayWidth() };
}

function boxesOf(bytes: Buffer): { type: string; at: number }[] {
  const boxes: { type: string; at: number }[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at) || bytes.length) {
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), at });
  }
  return boxes;
}

function chunksOf(png: Buffer): Buffer[] {
  const chunks = [png.subarray(0, 8)];
  for (let at = 8; at < png.length;) {
    const end = at + 12 + png.readUInt32BE(at);
    chunks.push(png.subarray(at, end));
    at = end;
  }
  return chunks;
}

const count = (bytes: Buffer, part: Buffer): number =>
  bytes.toString('latin1').split(part.toString('latin1')).length - 1;

const insertAt = (bytes: Buffer, at: number, part: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

function app1(text: string): Buffer {
  const segment = Buffer.from(`\0\0\0\0${text}`);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(segment.length - 2, 2);
  return segment;
}

function app11(data: Buffer): Buffer {
  const segment = Buffer.concat([Buffer.from('ffeb00004a5000010000000100', 'hex').subarray(0, 12), data]);
  segment.writeUInt16BE(segment.length - 2, 2);
  return segment;
}

function riff(webp: Buffer, type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.from(type), Buffer.alloc(4), data, Buffer.alloc(data.length % 2)]);
  chunk.writeUInt32LE(data.length, 4);
  const bytes = Buffer.concat([webp, chunk]);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
}

function uuidBox(uuid: Buffer, data: Buffer): Buffer {
  const box = Buffer.concat([Buffer.alloc(4), Buffer.from('uuid'), uuid, data]);
  box.writeUInt32BE(box.length, 0);
  return box;
}

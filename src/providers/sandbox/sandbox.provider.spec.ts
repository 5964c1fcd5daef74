import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import sharp from 'sharp';
import { stopClock } from '../../../test/support/clock.ts';
import { imageFile } from '../../../test/support/stubs/recorded-run.ts';
import { findModel } from '../../models/catalog.ts';
import { type InputImage, type ProviderRequest, type ResolvedInput, type Run } from '../contract/provider.ts';
import { runAlone } from '../contract/run-alone.ts';
import { parseDirectives, SandboxProvider } from './sandbox.provider.ts';
import { TASK_ERRORS, type TaskErrorCode } from '../../tasks/record/task-error.ts';

let sandbox: SandboxProvider;
let scratch: string;

/** A quarter of the sides, which are even: small pictures show the same in less time. */
function shrink(id: string): void {
  const model = findModel(id)!;
  const quarter = (side: number) => 2 * Math.round(side / 8);
  const sizes = Object.entries(model.sizes!).map(([ratio, row]) => [
    ratio,
    Object.fromEntries(
      Object.entries(row).map(([name, { width, height }]) => [
        name,
        { width: quarter(width), height: quarter(height) },
      ]),
    ),
  ]);
  jest.replaceProperty(model, 'sizes', Object.fromEntries(sizes));
}
afterAll(() => jest.restoreAllMocks());

// One for all: its threads take a quarter of a second to start, and longer on a busy machine.
beforeAll(async () => {
  for (const model of ['gpt-image-2', 'nano-banana-2', 'sora-2']) shrink(model);
  sandbox = new SandboxProvider();
  scratch = await mkdtemp(join(tmpdir(), 'darkroom-sandbox-'));
});

afterAll(async () => {
  await sandbox.onModuleDestroy();
  await rm(scratch, { recursive: true });
});

const run = (signal?: AbortSignal, scratchDir = scratch, progress?: Run['progress']): Run =>
  runAlone(scratchDir, { ...(signal && { signal }), ...(progress && { progress }) });

// The sandbox has no upstream.
const upstream = { model: '', baseUrl: '', apiKey: null, durationPolicy: 'exact', pollIntervalMs: null } as const;

const picture = (input: Partial<ResolvedInput>, references: InputImage[] = [], taskId = 'task_a'): ProviderRequest => ({
  taskId,
  model: 'gpt-image-2',
  kind: 'image',
  input: { prompt: 'a red fox at dawn', aspect_ratio: '3:2', resolution: '1K', n: 1, ...input },
  images: { references, firstFrame: null },
  upstream,
});

/** A quarter of a second unless the test says otherwise. */
const film = (
  input: Partial<ResolvedInput>,
  firstFrame: InputImage | null = null,
  references: InputImage[] = [],
): ProviderRequest => ({
  taskId: 'task_a',
  model: 'sora-2',
  kind: 'video',
  input: { prompt: 'ocean waves', aspect_ratio: '16:9', resolution: '720P', duration: 0.25, ...input },
  images: { references, firstFrame },
  upstream,
});

async function flat(color: string, width = 60, height = 40): Promise<InputImage> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: color } })
    .png()
    .toBuffer();
  return imageFile(bytes, { contentType: 'image/png', width, height });
}

/** Of two pictures of the same size, by channel; 0 to 255. */
async function meanError(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((png) => sharp(png).raw().toBuffer()));
  const STEP = 7; // a sample of all channels
  let [sum, count] = [0, 0];
  for (let at = 0; at < a!.length; at += STEP, count += 1) sum += Math.abs(a![at]! - b![at]!);
  return sum / count;
}

const cornerOf = (png: Buffer): Promise<Buffer> =>
  sharp(png).extract({ left: 0, top: 0, width: 16, height: 16 }).png().toBuffer();

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function pictures(request: ProviderRequest): Promise<Buffer[]> {
  return (await sandbox.prepare(request).generate(run())).map((output) => {
    if (!Buffer.isBuffer(output)) throw new Error('a picture comes as bytes');
    return output;
  });
}

async function filmed(request: ProviderRequest, progress?: Run['progress']): Promise<Buffer> {
  const scratchDir = await mkdtemp(join(scratch, 'film-'));
  const [output, ...more] = await sandbox.prepare(request).generate(run(undefined, scratchDir, progress));
  expect(more).toEqual([]);
  if (!output || Buffer.isBuffer(output)) throw new Error('a film comes as a file');
  expect(output.path.startsWith(scratchDir)).toBe(true);
  return readFile(output.path);
}

describe('pictures', () => {
  it('are PNGs of exactly the size asked for, as many as asked for, each different', async () => {
    const made = await pictures(picture({ n: 3 }));
    for (const png of made)
      expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 384, height: 256 });
    expect(new Set(made.map(hash)).size).toBe(3);
    for (const png of made) expect((await sharp(png).stats()).entropy).toBeGreaterThan(3); // not a flat area
  });

  it('are the same bytes for the same request, whatever the task and the thread', async () => {
    const [here, there] = await Promise.all([pictures(picture({ n: 2 })), pictures(picture({ n: 2 }, [], 'task_b'))]);
    expect(here.map(hash)).toEqual(there.map(hash));
  });

  it('show as many early stages as wanted, sharper from one to the next, and are the same bytes with them', async () => {
    const [finished] = await pictures(picture({}));
    const stagesOf = async (partialImages: number): Promise<Buffer[]> => {
      const partials: Buffer[] = [];
      const watched = { ...run(), partialImages, partialImage: (png: Buffer) => void partials.push(png) };
      const [png] = await sandbox.prepare(picture({})).generate(watched);
      expect(hash(png as Buffer)).toBe(hash(finished!));
      return partials;
    };
    const [one, stages, again] = [await stagesOf(1), await stagesOf(3), await stagesOf(3)];
    expect([one.length, stages.length]).toEqual([1, 3]);
    expect(again.map(hash)).toEqual(stages.map(hash));
    const errors: number[] = [];
    for (const stage of stages) {
      expect(await sharp(stage).metadata()).toMatchObject({ format: 'png', width: 384, height: 256 });
      errors.push(await meanError(stage, finished!));
      // The sky is painted first, so its corner has its final colour from the beginning.
      const [corner, final] = await Promise.all([stage, finished!].map(cornerOf));
      expect(await meanError(corner!, final!)).toBeLessThan(2);
    }
    expect(errors).toEqual(errors.toSorted((a, b) => b - a));
    expect(errors.at(-1)).toBeGreaterThan(0);
  });

  it('differ with the prompt and the model, but not with a directive', async () => {
    const [[fox], [cat], [other], [delayed]] = await Promise.all([
      pictures(picture({})),
      pictures(picture({ prompt: 'a blue cat' })),
      pictures({ ...picture({}), model: 'nano-banana-2', input: { ...picture({}).input, resolution: '2K' } }),
      pictures(picture({ prompt: 'a red fox at dawn #delay:0.01' })),
    ]);
    expect(new Set([fox, cat, other].map((png) => hash(png!))).size).toBe(3);
    expect(hash(delayed!)).toBe(hash(fox!));
  });

  it('differ for each task that has a parent, unless a seed is given', async () => {
    const of = async (request: ProviderRequest) => hash((await pictures(request))[0]!);
    const child = (taskId: string, input: Partial<ResolvedInput> = {}) =>
      of({ ...picture(input, [], taskId), parentTaskId: 'task_a' });
    const first = await of(picture({}));
    const [one, again, other] = [await child('task_b'), await child('task_b'), await child('task_c')];
    expect(again).toBe(one);
    expect(new Set([first, one, other]).size).toBe(3);
    expect(await of({ ...picture({}), parentTaskId: null })).toBe(first);
    expect(await child('task_b', { seed: 7 })).toBe(await child('task_c', { seed: 7 }));
  });

  it('have the colours of the reference image, as it is turned by its EXIF orientation', async () => {
    const half = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#00ff00' } })
      .png()
      .toBuffer();
    // Green at the left of the pixels; orientation 6 turns that to the top.
    const bytes = await sharp({ create: { width: 80, height: 40, channels: 3, background: '#ff00ff' } })
      .composite([{ input: half, left: 0, top: 0 }])
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const reference = imageFile(bytes, { contentType: 'image/jpeg', width: 40, height: 80 });
    const [png] = await pictures(picture({ prompt: 'mountains in fog' }, [reference]));
    const colorOf = async (top: number) => {
      const strip = await sharp(png!).extract({ left: 0, top, width: 384, height: 20 }).png().toBuffer();
      const [red, green, blue] = (await sharp(strip).stats()).channels.map(({ mean }) => mean);
      return green! - (red! + blue!) / 2;
    };
    expect(await colorOf(0)).toBeGreaterThan(40);
    expect(await colorOf(220)).toBeLessThan(-40);
    expect(hash(png!)).not.toBe(hash((await pictures(picture({ prompt: 'mountains in fog' })))[0]!));
  });

  it('auto takes the shape of the first reference image', async () => {
    const [png] = await pictures(picture({ aspect_ratio: 'auto' }, [await flat('#123456', 90, 160)]));
    expect(await sharp(png!).metadata()).toMatchObject({ width: 216, height: 384 });
  });

  it('fail with reference_image_invalid and the field when an image cannot be decoded', async () => {
    const good = await flat('#fff');
    const broken = imageFile(readFileSync(good.path).subarray(0, 40), {
      contentType: 'image/png',
      width: 60,
      height: 40,
    });
    await expect(sandbox.prepare(picture({}, [good, broken])).generate(run())).rejects.toMatchObject({
      code: 'reference_image_invalid',
      param: 'reference_images[1]',
    });
  });

  it('can be of any script, and of characters without a glyph', async () => {
    for (const prompt of [
      '红色的狐狸，在樱花树下。',
      'Рыжая лиса на рассвете',
      '🎉🎉🎉',
      '\u0000\uFFFF \u202E',
      'w'.repeat(32_000),
    ]) {
      const [png] = await pictures(picture({ prompt, aspect_ratio: '21:9' }));
      expect(await sharp(png!).metadata()).toMatchObject({ width: 392, height: 168 });
    }
  });
});

describe('a film', () => {
  /** Three seconds of 21:9: long enough to be shared by two threads, which make a piece each. */
  const long = film({ aspect_ratio: '21:9', duration: 3 });
  let mp4: Buffer;
  const progress: number[] = [];

  beforeAll(async () => {
    mp4 = await filmed(long, (percent) => progress.push(percent));
  });

  it('is H.264 in MP4 of exactly the size, duration and number of frames, with its key frames listed', async () => {
    using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(mp4) });
    const track = await input.getPrimaryVideoTrack();
    expect(await input.getTracks()).toHaveLength(1);
    expect([track?.codec, track?.displayWidth, track?.displayHeight]).toEqual(['avc', 368, 158]);
    expect(await input.computeDuration()).toBe(3);
    expect(await track?.computePacketStats()).toMatchObject({ packetCount: 72, averagePacketRate: 24 });
    const keys: number[] = [];
    for await (const packet of new EncodedPacketSink(track!).packets())
      if (packet.type === 'key') keys.push(packet.timestamp);
    expect(keys).toEqual([0, 1.5]);
    // The index comes before the frames, so that a player can start before it has the whole file.
    expect(mp4.indexOf('moov')).toBeLessThan(mp4.indexOf('mdat'));
  });

  it('is other bytes with a first frame or a reference image', async () => {
    const image = await flat('#00ff00');
    const films = [film({}), film({}, image), film({}, null, [image])];
    const hashes: string[] = [];
    for (const request of films) hashes.push(hash(await filmed(request)));
    expect(new Set(hashes).size).toBe(3);
  });

  it('is the same bytes for the same request, whichever of two threads makes a piece', async () => {
    expect(hash(await filmed(long))).toBe(hash(mp4));
  });

  it('moves: every frame after the first carries change', async () => {
    using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(mp4) });
    const sizes: number[] = [];
    for await (const packet of new EncodedPacketSink((await input.getPrimaryVideoTrack())!).packets())
      sizes.push(packet.byteLength);
    expect(sizes).toHaveLength(72);
    expect(sizes.slice(1).every((size) => size > 40)).toBe(true); // one without change has a dozen bytes
  });

  it('is other bytes with a last frame', async () => {
    const [first, lastFrame] = [await flat('#00ff00'), await flat('#ff0000')];
    const request = film({}, first);
    const hashes = [request, { ...request, images: { ...request.images, lastFrame } }].map(async (each) =>
      hash(await filmed(each)),
    );
    expect(new Set(await Promise.all(hashes)).size).toBe(2);
  });

  it('has a sound track of its length if it is asked for', async () => {
    const [silent, loud] = [
      await filmed(film({ duration: 1 })),
      await filmed(film({ duration: 1, generate_audio: true })),
    ];
    expect(hash(await filmed(film({ duration: 1, generate_audio: false })))).toBe(hash(silent));
    using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(loud) });
    const track = (await input.getPrimaryAudioTrack())!;
    expect([track.codec, track.sampleRate, track.numberOfChannels]).toEqual(['aac', 48_000, 1]);
    expect(await track.computeDuration()).toBe(1);
    expect(await input.computeDuration()).toBe(1);
    expect(await track.computePacketStats()).toMatchObject({ packetCount: 47 });
    const packets: number[] = [];
    for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.byteLength);
    expect(new Set(packets)).toEqual(new Set([6]));
    const picture = (await input.getPrimaryVideoTrack())!;
    expect(await picture.computePacketStats()).toMatchObject({ packetCount: 24 });
  });

  it('reports its progress, which never falls', () => {
    // A report comes at most every 200 ms: the number depends on the machine.
    expect(progress.length).toBeGreaterThan(0);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.filter((percent) => percent < 0 || percent > 100)).toEqual([]);
  });
});

describe('stopping', () => {
  const reason = new Error('not wanted any more');

  it.each([
    ['a film', film({ duration: 600 })],
    ['pictures', picture({ n: 1_000 })],
  ])('ends %s under way, with the reason of the abort', async (_what, request) => {
    const abort = new AbortController();
    const shares: number[] = [];
    const stopAtOnce = (percent: number) => {
      shares.push(percent);
      abort.abort(reason);
    };
    await expect(sandbox.prepare(request).generate(run(abort.signal, scratch, stopAtOnce))).rejects.toBe(reason);
    expect(Math.max(...shares)).toBeLessThan(50);
  });

  it.each([
    ['a hang', '#hang'],
    ['a delay', '#delay:3600'],
  ])('ends %s, with the reason of the abort', async (_what, prompt) => {
    const abort = new AbortController();
    const going = sandbox.prepare(picture({ prompt })).generate(run(abort.signal));
    abort.abort(reason);
    await expect(going).rejects.toBe(reason);
  });

  it('takes a waiting render out of the queue, and the others go on', async () => {
    const abort = new AbortController();
    // Twelve, because the pool has at most eight threads.
    const many = Array.from({ length: 12 }, (_, i) =>
      sandbox.prepare(picture({})).generate(run(i === 11 ? abort.signal : undefined)),
    );
    abort.abort(new Error('gone'));
    const settled = await Promise.allSettled(many);
    expect(settled.map(({ status }) => status)).toEqual([...Array.from({ length: 11 }, () => 'fulfilled'), 'rejected']);
  });

  it('of a thread by a crash fails its task alone, with internal_error', async () => {
    const lost = sandbox.prepare(film({})).generate(run(undefined, join(scratch, 'gone')));
    await expect(lost).rejects.toMatchObject({ name: 'ProviderError', code: 'internal_error' });
    expect(await pictures(picture({}))).toHaveLength(1);
  });

  it('does not start what is aborted already', async () => {
    await expect(sandbox.prepare(picture({})).generate(run(AbortSignal.abort(new Error('early'))))).rejects.toThrow(
      'early',
    );
  });
});

describe('directives', () => {
  it('#fail gives the task error it names', async () => {
    await expect(
      sandbox.prepare(picture({ prompt: 'a fox #fail:content_policy_violation' })).generate(run()),
    ).rejects.toMatchObject({
      name: 'ProviderError',
      code: 'content_policy_violation',
    });
  });

  it('#delay comes before #fail', async () => {
    stopClock();
    try {
      const failed = jest.fn();
      const generated = sandbox.prepare(film({ prompt: '#fail:provider_timeout #delay:0.2' })).generate(run());
      generated.catch(failed);
      await jest.advanceTimersByTimeAsync(199);
      expect(failed).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      await expect(generated).rejects.toMatchObject({ code: 'provider_timeout' });
    } finally {
      jest.useRealTimers();
    }
  });
});

const isGreen = (red: number, green: number, blue: number) => red < 60 && green > 200 && blue < 60;

/** Share of the pixels of which it is true. */
async function share(png: Buffer, test: (red: number, green: number, blue: number) => boolean): Promise<number> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let i = 0; i < data.length; i += info.channels) if (test(data[i]!, data[i + 1]!, data[i + 2]!)) count++;
  return count / (info.width * info.height);
}

describe('parseDirectives', () => {
  it('leaves a prompt without directives as it is', () => {
    expect(parseDirectives('a red fox')).toEqual({ text: 'a red fox', delaySeconds: 0, hang: false, fail: null });
  });

  it.each(Object.keys(TASK_ERRORS) as TaskErrorCode[])('reads #fail:%s', (code) => {
    expect(parseDirectives(`a fox #fail:${code}`)).toMatchObject({ text: 'a fox', fail: code });
  });

  it('combines a fractional delay and a failure, anywhere in the prompt', () => {
    expect(parseDirectives('#delay:1.5 a #fail:provider_timeout fox')).toEqual({
      text: 'a fox',
      delaySeconds: 1.5,
      hang: false,
      fail: 'provider_timeout',
    });
  });

  it('reads #hang on a line of its own', () => {
    expect(parseDirectives('a fox\n#hang')).toMatchObject({ text: 'a fox', hang: true });
  });

  it('fails with internal_error for an unknown code, including names of Object.prototype', () => {
    expect(parseDirectives('#fail:no_such_code').fail).toBe('internal_error');
    expect(parseDirectives('#fail:constructor').fail).toBe('internal_error');
  });

  it('waits an hour at most', () => {
    expect(parseDirectives('#delay:99999').delaySeconds).toBe(3600);
  });

  it.each(['#delay:soon a fox', 'a fox #hanging', 'issue#hang', '#fail: a fox', '#delay:-1'])(
    'treats %j as part of the prompt',
    (prompt) => {
      expect(parseDirectives(prompt)).toEqual({ text: prompt, delaySeconds: 0, hang: false, fail: null });
    },
  );
});

describe('the parameters of declared models', () => {
  const of = (
    input: Partial<ResolvedInput> & Record<string, unknown>,
    images: Partial<ProviderRequest['images']> = {},
  ) => {
    const request = picture(input, images.references);
    return pictures({ ...request, images: { ...request.images, ...images } });
  };
  const rawOf = async (png: Buffer) => sharp(png).ensureAlpha().raw().toBuffer();

  it('show a seed as another picture, which counts on from one to the next', async () => {
    const [[without], [seven], [again], [, second], [eight]] = await Promise.all([
      of({}),
      of({ seed: 7 }),
      of({ seed: 7 }),
      of({ seed: 7, n: 2 }),
      of({ seed: 8 }),
    ]);
    expect(hash(seven!)).toBe(hash(again!));
    expect(new Set([without, seven, eight].map((png) => hash(png!))).size).toBe(3);
    // Only the number in the note differs.
    expect(await meanError(second!, eight!)).toBeLessThan(2);
  });

  it('show a negative prompt and own parameters as text', async () => {
    const [[without], [blank], [negative], [own], [other]] = await Promise.all([
      of({}),
      of({ negative_prompt: '' }),
      of({ negative_prompt: 'blurry' }),
      of({ x_steps: 20 }),
      of({ x_steps: 21 }),
    ]);
    expect(hash(blank!)).toBe(hash(without!));
    expect(new Set([without, negative, own, other].map((png) => hash(png!))).size).toBe(4);
  });

  it('keep the pixels outside a mask', async () => {
    const reference = await flat('#00ff00', 384, 256);
    const half = await sharp({ create: { width: 192, height: 256, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const bytes = await sharp({ create: { width: 384, height: 256, channels: 3, background: '#000' } })
      .composite([{ input: half, left: 192, top: 0 }])
      .png()
      .toBuffer();
    const mask = imageFile(bytes, { contentType: 'image/png', width: 384, height: 256 });
    const [png] = await of({}, { references: [reference], mask });
    const side = (left: number) => sharp(png!).extract({ left, top: 0, width: 192, height: 256 }).png().toBuffer();
    expect(await share(await side(0), isGreen)).toBe(1);
    expect(await share(await side(192), isGreen)).toBeLessThan(0.5);
  });

  it('blend with the first reference by strength', async () => {
    const references = [await flat('#00ff00', 384, 256)];
    const [[none], [half], [whole], [usual]] = await Promise.all([
      of({ strength: 0 }, { references }),
      of({ strength: 0.5 }, { references }),
      of({ strength: 1 }, { references }),
      of({}, { references }),
    ]);
    expect(await share(none!, isGreen)).toBe(1);
    expect(hash(whole!)).toBe(hash(usual!));
    const [a, b, c] = await Promise.all([none!, whole!, half!].map(rawOf));
    const at = 4 * (100 * 384 + 50);
    for (const channel of [0, 1, 2]) {
      expect(c![at + channel]).toBeCloseTo((a![at + channel]! + b![at + channel]!) / 2, -0.5);
    }
  });

  it('have a rim without colour where the background is transparent', async () => {
    const [png] = await of({ background: 'transparent' });
    const raw = await rawOf(png!);
    expect([raw[3], raw[4 * (128 * 384 + 192) + 3]]).toEqual([0, 255]);
    const [opaque] = await of({ background: 'opaque' });
    expect(await sharp(opaque!).metadata()).toMatchObject({ hasAlpha: false });
  });
});

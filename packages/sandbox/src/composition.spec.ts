import { createCanvas } from '@napi-rs/canvas';
import { compose, paintLayer } from './composition.ts';
import { frameOf } from './scenes/scene.ts';

const PROMPTS = ['a forest of fir trees', 'mountains under the moon', 'ocean waves', 'a stormy sea at night', 'a city'];

it.each(PROMPTS)('%s looks the same whether or not hidden parts are painted', async (text) => {
  const frame = frameOf(320, 180);
  const layers = await compose(frame, { model: 'sora-2', text, references: [], durationSeconds: 5 }, 0);
  const plain = layers.map(({ hidesBelow: _ignored, ...layer }) => layer);
  for (const seconds of [0, 4.9]) {
    const [thrifty, whole] = [layers, plain].map((list) => {
      const context = createCanvas(frame.width, frame.height).getContext('2d');
      for (const i of list.keys()) paintLayer(context, list, i, seconds);
      return context.getImageData(0, 0, frame.width, frame.height).data;
    });
    const errors = thrifty!.map((value, i) => Math.abs(value - whole![i]!));
    // Skia rounds a few pixels of a crest differently next to the edge of what it may paint.
    expect(errors.reduce((most, error) => Math.max(most, error), 0)).toBeLessThan(10);
    expect(errors.filter((error) => error > 0).length).toBeLessThan(errors.length / 1000);
  }
});

it('hills and waves do hide what is behind them', async () => {
  for (const text of ['a forest of fir trees', 'ocean waves']) {
    const layers = await compose(frameOf(320, 180), { model: 'sora-2', text, references: [] }, 0);
    const rows = layers.flatMap(({ hidesBelow }) => hidesBelow ?? []);
    expect(rows.length).toBeGreaterThan(5);
    expect(Math.min(...rows)).toBeLessThan(120);
  }
});

it.each([...PROMPTS, 'a planet', 'a rose', 'music', 'a poster'])(
  'the camera of a film of %s drifts by 8 to 12 %% of the width, less far behind',
  async (text) => {
    const frame = frameOf(320, 180);
    const durationSeconds = 4;
    const film = { model: 'sora-2', text, references: [], durationSeconds };
    const moved = (await compose(frame, film, 0)).map(({ pose }) => {
      const [from, to] = [0, durationSeconds].map((seconds) => pose?.(seconds).x ?? 0);
      return Math.abs(to! - from!) / frame.width;
    });
    const nearest = Math.max(...moved);
    expect(nearest).toBeGreaterThan(0.05); // a swell swings against it
    expect(nearest).toBeLessThan(0.15);
    expect(new Set(moved.map((share) => share.toFixed(3))).size).toBeGreaterThan(1);
    const still = (await compose(frame, { model: 'sora-2', text, references: [] }, 0)).map(
      ({ pose }) => pose?.(0).x ?? 0,
    );
    expect(still.filter((x) => Math.abs(x) > frame.unit * 0.05)).toEqual([]);
  },
);

it('a variation keeps scene and mood, and is another picture', async () => {
  const drawn = async (variation?: string) => {
    const frame = frameOf(160, 90);
    const layers = await compose(frame, { model: 'gpt-image-2', text: 'a thing', references: [], variation }, 0);
    const context = createCanvas(frame.width, frame.height).getContext('2d');
    for (const i of layers.keys()) paintLayer(context, layers, i, 0);
    return { layers: layers.length, pixels: Buffer.from(context.getImageData(0, 0, 160, 90).data) };
  };
  const [plain, one, other, again] = [await drawn(), await drawn('a'), await drawn('b'), await drawn('a')];
  expect(again.pixels.equals(one.pixels)).toBe(true);
  expect([plain, other].filter(({ pixels }) => pixels.equals(one.pixels))).toEqual([]);
  const { length } = plain.pixels;
  const distance = (a: Buffer, b: Buffer) => a.reduce((sum, value, at) => sum + Math.abs(value - b[at]!), 0) / length;
  const stranger = createCanvas(160, 90).getContext('2d');
  const layers = await compose(frameOf(160, 90), { model: 'gpt-image-2', text: 'the night city', references: [] }, 0);
  for (const i of layers.keys()) paintLayer(stranger, layers, i, 0);
  const far = distance(plain.pixels, Buffer.from(stranger.getImageData(0, 0, 160, 90).data));
  expect(distance(plain.pixels, one.pixels)).toBeLessThan(far);
});

import { createCanvas } from '@napi-rs/canvas';
import { compose, paintLayer } from './composition.ts';
import { frameOf } from './scenes/scene.ts';

const PROMPTS = ['a forest of fir trees', 'mountains under the moon', 'ocean waves', 'a stormy sea at night', 'a city'];

it.each(PROMPTS)('%s looks the same whether or not hidden parts are painted', async (text) => {
  const frame = frameOf(320, 180);
  const { layers } = await compose(frame, { model: 'sora-2', text, references: [] }, 0);
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
    const { layers } = await compose(frameOf(320, 180), { model: 'sora-2', text, references: [] }, 0);
    const rows = layers.flatMap(({ hidesBelow }) => hidesBelow ?? []);
    expect(rows.length).toBeGreaterThan(5);
    expect(Math.min(...rows)).toBeLessThan(120);
  }
});

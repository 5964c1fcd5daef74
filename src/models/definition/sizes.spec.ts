import { catalog, findModel } from '../catalog.ts';
import type { Model } from './model.ts';
import { chooseSize, nearestSize, parsePixels, resolutionOf, type Size, sizeTable, toPixels } from './sizes.ts';

const gptImage2 = findModel('gpt-image-2')!;
const nanoBanana2 = findModel('nano-banana-2')!;

const NANO_BANANA = {
  '1:1': { '2K': '2048x2048', '4K': '4096x4096' },
  '4:3': { '2K': '2400x1792', '4K': '4800x3584' },
  '3:2': { '2K': '2528x1696', '4K': '5056x3392' },
  '16:9': { '2K': '2752x1536', '4K': '5504x3072' },
  '21:9': { '2K': '3168x1344', '4K': '6336x2688' },
};

/** The published sizes of the ratios that are at least as wide as high, written out by hand. */
const PUBLISHED: Record<string, Record<string, Record<string, string>>> = {
  'gpt-image-2': {
    '1:1': { '1K': '1024x1024', '2K': '2048x2048', '4K': '2880x2880' },
    '5:4': { '1K': '1280x1024', '2K': '1920x1536', '4K': '3200x2560' },
    '4:3': { '1K': '1280x960', '2K': '2048x1536', '4K': '3264x2448' },
    '3:2': { '1K': '1536x1024', '2K': '2016x1344', '4K': '3504x2336' },
    '16:9': { '1K': '1536x864', '2K': '2048x1152', '4K': '3840x2160' },
    '21:9': { '1K': '1568x672', '2K': '2688x1152', '4K': '3808x1632' },
  },
  'nano-banana-2': NANO_BANANA,
  'nano-banana-pro': NANO_BANANA,
  'sora-2': {
    '1:1': { '720P': '960x960', '1080P': '1440x1440', '4K': '3840x3840' },
    '4:3': { '720P': '1112x834', '1080P': '1664x1248', '4K': '3840x2880' },
    '16:9': { '720P': '1280x720', '1080P': '1920x1080', '4K': '3840x2160' },
    '21:9': { '720P': '1470x630', '1080P': '2206x946', '4K': '3840x1646' },
  },
  'seedance-2': {
    '1:1': { '720p': '960x960', '1080p': '1440x1440' },
    '4:3': { '720p': '1112x834', '1080p': '1664x1248' },
    '16:9': { '720p': '1280x720', '1080p': '1920x1080' },
    '21:9': { '720p': '1470x630', '1080p': '2206x946' },
  },
};

const turned = (text: string) => text.split(/[:x]/).toReversed();

/** A ratio turned on its side has its sizes turned too; 21:9 and 1:1 have no other side. */
function withPortraits(rows: Record<string, Record<string, string>>): Record<string, Record<string, string>> {
  const portraits = Object.entries(rows)
    .filter(([ratio]) => ratio !== '21:9' && ratio !== '1:1')
    .map(([ratio, cells]) => [
      turned(ratio).join(':'),
      Object.fromEntries(Object.entries(cells).map(([resolution, size]) => [resolution, turned(size).join('x')])),
    ]);
  return { ...rows, ...Object.fromEntries(portraits) };
}

describe.each(catalog.models.map((model) => [model.id, model] as const))(
  'the sizes of %s',
  (id, { sizes, parameters }) => {
    const { aspect_ratio, resolution } = parameters.properties;
    const all = Object.values(sizes).flatMap((row) => Object.values(row));

    it('are the published ones', () => {
      const asText = Object.fromEntries(
        Object.entries(sizes).map(([ratio, row]) => [
          ratio,
          Object.fromEntries(Object.entries(row).map(([name, { width, height }]) => [name, `${width}x${height}`])),
        ]),
      );
      expect(asText).toEqual(withPortraits(PUBLISHED[id]!));
    });

    it('cover every ratio in every resolution of its parameters, and no other', () => {
      const ratios = aspect_ratio!.enum!.filter((ratio) => ratio !== 'auto');
      expect(Object.keys(sizes).sort()).toEqual(ratios.sort());
      for (const row of Object.values(sizes)) expect(Object.keys(row)).toEqual(resolution!.enum);
    });

    it('have even sides', () => {
      expect(all.filter(({ width, height }) => width % 2 || height % 2)).toEqual([]);
    });
  },
);

it('gpt-image-2 keeps exactly to its ratios, in multiples of 16', () => {
  for (const [ratio, row] of Object.entries(gptImage2.sizes)) {
    const [w = 0, h = 0] = ratio.split(':').map(Number);
    for (const { width, height } of Object.values(row)) {
      expect([width % 16, height % 16, width * h - height * w]).toEqual([0, 0, 0]);
    }
  }
});

describe('chooseSize', () => {
  const { sizes } = gptImage2;

  it.each([
    ['4:3', sizes, '1K', { width: 4032, height: 3024 }],
    ['9:16', sizes, '1K', { width: 100, height: 1000 }],
    ['21:9', nanoBanana2.sizes, '2K', { width: 2100, height: 900 }],
  ])('auto is the ratio nearest to the reference: %s', (ratio, table, resolution, reference) => {
    const choice = chooseSize(table, { ratio: 'auto', resolution, reference });
    expect(choice).toEqual({ ratio, size: table[ratio]![resolution] });
  });

  it('auto without a reference is a square', () => {
    expect(chooseSize(nanoBanana2.sizes, { ratio: 'auto', resolution: '4K' })?.ratio).toBe('1:1');
  });

  it('auto takes the nearest size that the provider accepts, of two equally near the wider', () => {
    const isOblong = ({ width, height }: Size) => width !== height;
    const auto = { ratio: 'auto', resolution: '4K' };
    expect(chooseSize(sizes, { ...auto, accepts: isOblong })?.ratio).toBe('5:4');
    expect(chooseSize(sizes, { ...auto, accepts: () => false })).toBeNull();
  });

  it.each([
    ['a resolution', '1:1', '8K'],
    ['a ratio', '7:5', '1K'],
    ['a member of every object', 'toString', '1K'],
    ['a member of every row', '1:1', 'toString'],
  ])('is null for %s that the table has not', (_what, ratio, resolution) => {
    expect(chooseSize(sizes, { ratio, resolution })).toBeNull();
  });
});

it('a table with an empty cell is refused', () => {
  expect(() => sizeTable(['1K', '2K'], { '1:1': ['1024x1024'] })).toThrow('every cell');
});

const seedance2 = findModel('seedance-2')!;
const sora2 = findModel('sora-2')!;

const nearest = (model: Model, pixels: string) => {
  const found = nearestSize(model.sizes, parsePixels(pixels)!);
  return found && `${found.ratio} ${found.resolution} ${toPixels(found.size)}`;
};

describe('a size in pixels', () => {
  it.each([
    [gptImage2, '1024x1024', '1:1 1K 1024x1024'],
    [gptImage2, '1536x1024', '3:2 1K 1536x1024'],
    [gptImage2, '1024x1536', '2:3 1K 1024x1536'],
    [gptImage2, '1792x1024', '16:9 2K 2048x1152'],
    [gptImage2, '1024x1792', '9:16 2K 1152x2048'],
    [gptImage2, '512x512', '1:1 1K 1024x1024'],
    [gptImage2, '256x256', '1:1 1K 1024x1024'],
    [gptImage2, '9999x9999', '1:1 4K 2880x2880'],
    [nanoBanana2, '1024x1024', '1:1 2K 2048x2048'],
    [nanoBanana2, '1536x1024', '3:2 2K 2528x1696'],
    [sora2, '720x1280', '9:16 720P 720x1280'],
    [sora2, '1792x1024', '16:9 1080P 1920x1080'],
    [sora2, '1024x1792', '9:16 1080P 1080x1920'],
    [seedance2, '3840x2160', '16:9 1080p 1920x1080'],
  ])('of %# is exact or the nearest one of the model', (model, pixels, found) => {
    expect(nearest(model, pixels)).toBe(found);
  });

  it.each(catalog.models.map((model) => [model.id, model] as const))(
    'of the table of %s is found exactly',
    (_id, model) => {
      for (const row of Object.values(model.sizes)) {
        for (const size of Object.values(row)) expect(nearestSize(model.sizes, size)?.size).toEqual(size);
      }
    },
  );

  it('more than 15 % off every ratio is refused', () => {
    expect(nearest(gptImage2, '100x1000')).toBeNull();
    expect(nearest(gptImage2, '600x1400')).toBeNull(); // 21:9 is not turned round
    expect(nearest(sora2, '1000x870')).toBe('1:1 720P 960x960'); // 14.9 %
    expect(nearestSize({ '1:1': sora2.sizes['1:1']! }, { width: 1151, height: 1000 })).toBeNull();
  });

  it.each(['0x100', '100x0', '10000x1', '1024', '1024X1024', 'auto', ' 1024x1024', '1e3x1e3', '-1x1', ''])(
    '%j is not a size in pixels',
    (text) => expect(parsePixels(text)).toBeNull(),
  );
});

describe('the resolution of a request', () => {
  it.each([
    [{ resolution: '2K' }, '2K'],
    [{ size: '1024x1024' }, '1K'],
    [{ size: '1792x1024' }, '1K'],
    [{ size: '2048x2048' }, '2K'],
    [{ size: '3840x1280' }, '2K'],
    [{ size: '3840x2160' }, '4K'],
    [{ size: 'auto' }, undefined],
    [{}, undefined],
  ])('%j counts as %s', (input, expected) => {
    expect(resolutionOf(gptImage2.sizes, input)).toBe(expected);
  });

  it('is the larger of two that are equally near', () => {
    const two = { '1:1': { small: { width: 100, height: 100 }, large: { width: 400, height: 400 } } };
    expect(resolutionOf(two, { size: '200x200' })).toBe('large');
  });

  it('has none without a table', () => {
    expect(resolutionOf({}, { size: '512x512' })).toBeUndefined();
  });
});

import { catalog, findModel } from '../catalog.ts';
import { chooseSize, type Size, sizeTable } from './sizes.ts';

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

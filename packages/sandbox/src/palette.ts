import { type Color, color, mix } from './color.ts';
import type { Random } from './random.ts';
import { anyOf, mentioned } from './words.ts';

/** The colours of one picture. */
export interface Palette {
  skyTop: Color;
  skyLow: Color;
  /** The colours of the most distant and of the nearest layer. The layers between have mixed colours. */
  far: Color;
  near: Color;
  accent: Color;
  second: Color;
  /** The colour of sun, moon and lamps. */
  light: Color;
  night: boolean;
}

interface Mood extends Palette {
  words: RegExp;
}

const MOODS: Mood[] = [
  {
    words: anyOf('sunset', 'dusk', 'evening', 'golden hour', 'fire', 'lava', 'закат', 'вечер', '日落', '夕阳', '黄昏', '火'),
    skyTop: color(0.4, 0.13, 300), skyLow: color(0.82, 0.15, 58), far: color(0.66, 0.16, 25), near: color(0.21, 0.08, 310),
    accent: color(0.7, 0.2, 32), second: color(0.85, 0.15, 85), light: color(0.94, 0.1, 85), night: false,
  },
  {
    words: anyOf('ocean', 'sea', 'wave', 'water', 'river', 'lake', 'rain', 'underwater', 'whale', 'fish', 'море', 'океан', '海', '海洋', '湖', '水', '雨'),
    skyTop: color(0.66, 0.1, 235), skyLow: color(0.94, 0.04, 195), far: color(0.72, 0.09, 210), near: color(0.25, 0.08, 248),
    accent: color(0.74, 0.16, 48), second: color(0.84, 0.11, 185), light: color(0.97, 0.05, 95), night: false,
  },
  {
    words: anyOf('forest', 'tree', 'jungle', 'woods', 'wood', 'leaf', 'grass', 'moss', 'лес', 'дерево', '森林', '树', '竹'),
    skyTop: color(0.7, 0.07, 185), skyLow: color(0.94, 0.06, 112), far: color(0.72, 0.08, 160), near: color(0.22, 0.05, 162),
    accent: color(0.8, 0.16, 80), second: color(0.74, 0.16, 130), light: color(0.97, 0.08, 105), night: false,
  },
  {
    words: anyOf('night', 'midnight', 'moon', 'star', 'starry', 'space', 'galaxy', 'cosmos', 'cosmic', 'universe', 'nebula', 'ночь', 'звезда', '夜', '星', '月', '宇宙'),
    skyTop: color(0.15, 0.06, 272), skyLow: color(0.44, 0.13, 292), far: color(0.4, 0.11, 285), near: color(0.12, 0.04, 270),
    accent: color(0.8, 0.15, 75), second: color(0.72, 0.17, 335), light: color(0.96, 0.03, 95), night: true,
  },
  {
    words: anyOf('neon', 'cyberpunk', 'synthwave', 'disco', 'robot', 'futuristic', 'неон', '霓虹', '赛博朋克'),
    skyTop: color(0.14, 0.09, 290), skyLow: color(0.46, 0.22, 335), far: color(0.42, 0.19, 305), near: color(0.11, 0.05, 285),
    accent: color(0.76, 0.21, 345), second: color(0.86, 0.14, 195), light: color(0.88, 0.15, 70), night: true,
  },
  {
    words: anyOf('dawn', 'sunrise', 'morning', 'dream', 'dreamy', 'pastel', 'рассвет', 'утро', '黎明', '日出', '早晨', '梦'),
    skyTop: color(0.72, 0.1, 285), skyLow: color(0.93, 0.07, 45), far: color(0.8, 0.09, 340), near: color(0.36, 0.1, 290),
    accent: color(0.76, 0.16, 20), second: color(0.88, 0.12, 90), light: color(0.98, 0.05, 75), night: false,
  },
  {
    words: anyOf('desert', 'sand', 'dune', 'canyon', 'clay', 'camel', 'пустыня', '沙漠', '沙'),
    skyTop: color(0.78, 0.07, 205), skyLow: color(0.93, 0.07, 80), far: color(0.8, 0.11, 66), near: color(0.36, 0.11, 34),
    accent: color(0.63, 0.19, 33), second: color(0.6, 0.1, 200), light: color(0.98, 0.06, 90), night: false,
  },
  {
    words: anyOf('winter', 'snow', 'snowy', 'ice', 'frozen', 'glacier', 'arctic', 'зима', 'снег', '冬', '雪', '冰'),
    skyTop: color(0.72, 0.07, 248), skyLow: color(0.97, 0.015, 230), far: color(0.87, 0.03, 238), near: color(0.32, 0.07, 256),
    accent: color(0.63, 0.2, 25), second: color(0.8, 0.08, 200), light: color(0.99, 0.02, 90), night: false,
  },
  {
    words: anyOf('spring', 'flower', 'garden', 'blossom', 'sakura', 'meadow', 'весна', 'цветок', '春', '花', '樱花'),
    skyTop: color(0.82, 0.08, 225), skyLow: color(0.96, 0.04, 345), far: color(0.84, 0.1, 150), near: color(0.32, 0.09, 158),
    accent: color(0.73, 0.18, 0), second: color(0.88, 0.16, 98), light: color(0.98, 0.06, 95), night: false,
  },
  {
    words: anyOf('autumn', 'fall', 'harvest', 'pumpkin', 'whisky', 'coffee', 'осень', '秋'),
    skyTop: color(0.74, 0.09, 62), skyLow: color(0.94, 0.08, 88), far: color(0.74, 0.15, 58), near: color(0.27, 0.08, 28),
    accent: color(0.62, 0.2, 34), second: color(0.82, 0.16, 82), light: color(0.98, 0.08, 95), night: false,
  },
  {
    words: anyOf('poster', 'bauhaus', 'minimal', 'minimalist', 'geometric', 'paper', 'retro', 'vintage', 'плакат', '海报', '极简'),
    skyTop: color(0.93, 0.03, 85), skyLow: color(0.9, 0.05, 80), far: color(0.8, 0.1, 75), near: color(0.26, 0.05, 265),
    accent: color(0.62, 0.21, 29), second: color(0.56, 0.15, 252), light: color(0.88, 0.16, 88), night: false,
  },
  {
    words: anyOf('noir', 'monochrome', 'fog', 'mist', 'smoke', 'storm', 'rainy', 'туман', '雾', '黑白'),
    skyTop: color(0.5, 0.015, 255), skyLow: color(0.88, 0.01, 240), far: color(0.74, 0.015, 245), near: color(0.19, 0.012, 260),
    accent: color(0.6, 0.21, 27), second: color(0.7, 0.02, 250), light: color(0.98, 0.01, 90), night: false,
  },
]; // prettier-ignore

const HUES: { words: RegExp; chroma: number; hue: number }[] = [
  { words: anyOf('red', 'crimson', 'scarlet', 'ruby', 'красн\\p{L}+', '红'), chroma: 0.2, hue: 25 },
  { words: anyOf('orange', 'amber', 'tangerine', 'оранжев\\p{L}+', '橙'), chroma: 0.18, hue: 55 },
  {
    words: anyOf('gold', 'golden', 'yellow', 'lemon', 'жёлт\\p{L}+', 'золот\\p{L}+', '黄', '金'),
    chroma: 0.16,
    hue: 88,
  },
  { words: anyOf('green', 'emerald', 'lime', 'olive', 'зелён\\p{L}+', '绿'), chroma: 0.16, hue: 148 },
  { words: anyOf('teal', 'turquoise', 'cyan', 'aqua', 'mint', 'бирюзов\\p{L}+', '青'), chroma: 0.12, hue: 190 },
  {
    words: anyOf('blue', 'navy', 'azure', 'cobalt', 'indigo', 'син\\p{L}+', 'голуб\\p{L}+', '蓝'),
    chroma: 0.15,
    hue: 255,
  },
  { words: anyOf('purple', 'violet', 'lavender', 'lilac', 'фиолетов\\p{L}+', '紫'), chroma: 0.17, hue: 305 },
  { words: anyOf('pink', 'magenta', 'fuchsia', 'rose', 'розов\\p{L}+', '粉'), chroma: 0.18, hue: 355 },
  { words: anyOf('brown', 'chocolate', 'copper', 'bronze', 'коричнев\\p{L}+', '棕'), chroma: 0.08, hue: 50 },
  {
    words: anyOf('grey', 'gray', 'silver', 'white', 'black', 'чёрн\\p{L}+', 'бел\\p{L}+', '黑', '白', '灰'),
    chroma: 0.01,
    hue: 250,
  },
];

/**
 * The mood that the prompt names, else a random one. Colours that the prompt names replace or tint the colours of the
 * mood. The hues of the mood are shifted a little, unless the prompt names a colour and there is no variation.
 * @param shifting draws the shift of a variation
 */
export function choosePalette(text: string, random: Random, shifting: Random = random): Palette {
  const fallback = random.pick(MOODS);
  const own = random.between(-9, 9); // drawn for a variation too, so that the next draw chooses the same scene
  const shift = shifting === random ? own : shifting.between(-24, 24);
  // A night mood comes first, wherever in the prompt its word is.
  const [mood, other] = mentioned(text, MOODS).sort((a, b) => Number(b.night) - Number(a.night));
  const [first, second = null] = mentioned(text, HUES);
  const base = withHueShift(mood ?? fallback, first && shifting === random ? 0 : shift);
  // A second mood gives its hues and its accent, but not its lightness: the light and dark colours of two moods would
  // clash.
  const blend = other ? withSecondMood(base, other) : base;
  if (!first) return blend;
  return mood ? withAccent(blend, first, second) : recoloured(blend, first, second);
}

function withSecondMood(palette: Palette, other: Palette): Palette {
  const { far, near } = palette;
  return {
    ...palette,
    far: mix(far, { ...other.far, l: far.l }, 0.4),
    near: mix(near, { ...other.near, l: near.l }, 0.4),
    accent: other.accent,
    second: mix(palette.second, other.accent, 0.35),
  };
}

type Dye = (typeof HUES)[number];

function withHueShift(palette: Palette, degrees: number): Palette {
  const turn = (a: Color): Color => ({ ...a, h: a.h + degrees });
  const { skyTop, skyLow, far, near, accent, second, light, night } = palette;
  return {
    skyTop: turn(skyTop), skyLow: turn(skyLow), far: turn(far), near: turn(near), accent: turn(accent), second: turn(second), light, night,
  }; // prettier-ignore
}

/**
 * A mood that the prompt names keeps most of its colours. The first named colour becomes the accent, and tints the sky,
 * the far layer and the light.
 */
function withAccent(palette: Palette, first: Dye, second: Dye | null): Palette {
  const accent = bright(first);
  return {
    ...palette,
    accent,
    second: second ? bright(second) : palette.second,
    skyLow: mix(palette.skyLow, { ...accent, l: palette.skyLow.l }, 0.3),
    far: mix(palette.far, { ...accent, l: palette.far.l }, 0.22),
    light: mix(palette.light, { ...accent, l: palette.light.l }, 0.35),
  };
}

/** Without a named mood, the first named colour dominates the picture, and a second one colours the foreground. */
function recoloured(palette: Palette, first: Dye, second: Dye | null): Palette {
  const dye = (a: Color, { chroma, hue }: Dye, strength: number): Color =>
    mix(a, { l: a.l, c: Math.min(chroma, Math.max(a.c, chroma * 0.75)), h: hue }, strength);
  return {
    skyTop: dye(palette.skyTop, first, 0.92),
    skyLow: dye(palette.skyLow, first, 0.65),
    far: dye(palette.far, first, 0.92),
    near: dye(palette.near, second ?? first, 0.85),
    accent: bright(first),
    second: second ? bright(second) : palette.second,
    light: palette.light,
    night: palette.night,
  };
}

function bright({ chroma, hue }: Dye): Color {
  // Yellows look best when they are light, blues and purples at medium lightness.
  return { l: hue > 50 && hue < 120 ? 0.8 : 0.64, c: Math.max(chroma, 0.02), h: hue };
}

import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { color, css, mix } from './color.ts';
import { fillGradient } from './fill-gradient.ts';
import { familiesFor, writable } from './fonts.ts';
import type { Palette } from './palette.ts';
import type { Frame } from './scenes/scene.ts';

const TITLE_WEIGHT = 760;
const TITLE_SPACING = -0.018;
const NOTE_WEIGHT = 560;
const NOTE_SPACING = 0.14;
const MAX_TITLE_CHARACTERS = 320;
const LINE_HEIGHT = 1.14;

/** The prompt in large letters with a small note below, on a shade that keeps them readable over any scene. */
export interface Lettering {
  /** Where it starts in the frame, in pixels from the top. It ends with the frame and is as wide. */
  top: number;
  /** Paints it with its top at the origin. */
  paint(context: SKRSContext2D): void;
}

/** Lines below the note take at most this share of the height. */
const MAX_FACTS_SHARE = 0.4;
const MAX_FACT_CHARACTERS = 90;
const FACT_LINE_HEIGHT = 1.5;

interface Text {
  title: string;
  /** Model, size and number, in capitals. */
  note: string;
  /** Lines below it. */
  facts?: string[] | undefined;
}

export function layOutLettering(frame: Frame, palette: Palette, text: Text): Lettering {
  const { width, height, unit } = frame;
  const inset = unit * 0.065;
  const characters = [...writable(text.title)];
  const shown = characters.slice(0, MAX_TITLE_CHARACTERS).join('');
  const title = shown.length < characters.join('').length ? `${shown}…` : shown;
  const facts = (text.facts ?? []).map((fact) => [...writable(fact)].slice(0, MAX_FACT_CHARACTERS).join(''));
  const families = familiesFor(shown + text.note + facts.join(''));
  const measuring = createCanvas(8, 8).getContext('2d');
  const { size, lines } = fitTitle(measuring, {
    title,
    families,
    width: width - 2 * inset,
    height: height * 0.36,
    unit,
  });

  const noteSize = Math.max(9, unit * 0.0185);
  const factSize = Math.min(noteSize, (height * MAX_FACTS_SHARE) / (facts.length * FACT_LINE_HEIGHT));
  const factsHeight = facts.length === 0 ? 0 : facts.length * factSize * FACT_LINE_HEIGHT;
  const blockHeight = lines.length * size * LINE_HEIGHT + noteSize * 2.4 + unit * 0.045 + factsHeight;
  const top = Math.max(0, Math.floor(height - inset - blockHeight - unit * 0.2));
  const shade = mix(palette.near, color(0.12, 0.03, palette.near.h), 0.75);
  return {
    top,
    paint(context) {
      const area = { x: 0, y: 0, width, height: height - top };
      // Eased by hand: a linear ramp shows its upper edge.
      const eased = [[0, 0], [0.18, 0.1], [0.36, 0.38], [0.55, 0.66], [1, 0.86]] as const; // prettier-ignore
      fillGradient(
        context,
        area,
        eased.map(([at, alpha]) => [at * area.height, css(shade, alpha)]),
      );

      let baseline = height - top - inset;
      setFont(context, { families, size: factSize, weight: NOTE_WEIGHT, spacing: 0 });
      context.fillStyle = css(mix(palette.light, palette.accent, 0.25), 0.85);
      for (const [i, fact] of facts.toReversed().entries())
        context.fillText(fact, inset, baseline - i * factSize * FACT_LINE_HEIGHT, width - 2 * inset);
      baseline -= factsHeight;
      setFont(context, { families, size: noteSize, weight: NOTE_WEIGHT, spacing: NOTE_SPACING });
      context.fillStyle = css(mix(palette.light, palette.accent, 0.25), 0.85);
      context.fillText(text.note, inset, baseline);

      baseline -= noteSize * 1.6 + size * 0.22;
      setFont(context, { families, size, weight: TITLE_WEIGHT, spacing: TITLE_SPACING });
      context.fillStyle = css(color(0.975, 0.012, palette.light.h));
      for (const [i, line] of lines.toReversed().entries())
        context.fillText(line, inset, baseline - i * size * LINE_HEIGHT);

      baseline -= lines.length * size * LINE_HEIGHT + unit * 0.018;
      context.fillStyle = css({ ...palette.accent, l: Math.max(palette.accent.l, 0.6) });
      context.fillRect(inset, baseline, unit * 0.085, Math.max(2, unit * 0.0075));
    },
  };
}

interface Font {
  families: string;
  /** Pixels. */
  size: number;
  weight: number;
  /** Between letters, as a share of the size. */
  spacing: number;
}

function setFont(context: SKRSContext2D, { families, size, weight, spacing }: Font): void {
  context.font = `${size}px ${families}`;
  context.fontVariationSettings = `"wght" ${weight}`;
  context.letterSpacing = `${size * spacing}px`;
}

interface TitleBox {
  title: string;
  families: string;
  width: number;
  height: number;
  /** The frame's shorter side. */
  unit: number;
}

/**
 * Finds the largest size at which the title fits its box without breaking a word. At the smallest size it is truncated.
 */
function fitTitle(context: SKRSContext2D, box: TitleBox): { size: number; lines: string[] } {
  const { title, families, width, height, unit } = box;
  const smallest = unit * 0.03;
  for (let size = unit * 0.17; ; size *= 0.93) {
    setFont(context, { families, size, weight: TITLE_WEIGHT, spacing: TITLE_SPACING });
    const { lines, broken } = wrap(context, title, width);
    const linesThatFit = Math.floor(height / (size * LINE_HEIGHT));
    const maxLines = size > unit * 0.125 ? 1 : size > unit * 0.095 ? 2 : size > unit * 0.055 ? 6 : 10;
    if (lines.length <= Math.min(linesThatFit, maxLines) && !broken) {
      return { size, lines: balance(context, title, width, lines) };
    }
    if (size > smallest) continue;
    const kept = lines.slice(0, linesThatFit);
    if (lines.length > linesThatFit) kept.push(`${kept.pop()?.replace(/.{0,2}$/u, '') ?? ''}…`);
    return { size, lines: kept };
  }
}

/** Keeps the number of lines and evens out their lengths, so that the last line is not a single word. */
function balance(context: SKRSContext2D, text: string, width: number, lines: string[]): string[] {
  let even = lines;
  for (let narrower = width * 0.97; narrower > width * 0.4; narrower -= width * 0.03) {
    const next = wrap(context, text, narrower);
    if (next.broken || next.lines.length > lines.length) break;
    even = next.lines;
  }
  return even;
}

// A word, a run of spaces, or one ideograph or kana with the punctuation that may not begin a line.
const PIECES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][\u3001-\u3003\u3009-\u301f\u30fc\uff01-\uff0f\uff1a-\uff1f]*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\s+/gu;

/** @returns the lines, and whether a word had to be broken */
function wrap(context: SKRSContext2D, text: string, width: number): { lines: string[]; broken: boolean } {
  const lines: string[] = [];
  let line = '';
  let broken = false;
  for (const piece of text.match(PIECES) ?? []) {
    if (context.measureText((line + piece).trim()).width <= width) {
      line += piece;
      continue;
    }
    if (line.trim()) lines.push(line.trim());
    line = '';
    if (!piece.trim()) continue;
    // A word wider than the box is broken between characters.
    for (const character of piece) {
      if (line && context.measureText(line + character).width > width) {
        broken = true;
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  if (line.trim()) lines.push(line.trim());
  return { lines, broken };
}

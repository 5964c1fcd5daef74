import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { color, css } from './color.ts';
import { familiesFor, writable } from './fonts.ts';
import type { Frame } from './scenes/scene.ts';

const WEIGHT = 600;
const SPACING = 0.12;
/** The height of the title row, as a multiple of the font size. */
const ROW_HEIGHT = 2.2;
const FACT_ROW_HEIGHT = 1.5;
/** The largest share of the frame's height that all rows of facts together take. */
const MAX_FACTS_SHARE = 0.4;
const MAX_TITLE_CHARACTERS = 320;
const MAX_FACT_CHARACTERS = 90;
/** The shortest part of the title that is still shown, in characters. */
const LEAST_TITLE_CHARACTERS = 6;

const BASE = color(0.15, 0.014, 45);
const INK = color(0.8, 0.145, 66);

/** A strip with small letters at the lower edge of the frame, as on photographic film. The scene has no letters. */
export interface FilmEdge {
  /** The row of the frame at which the strip starts. The strip ends with the frame and is as wide as the frame. */
  top: number;
  /** Paints the strip with its top at the origin. */
  paint(context: SKRSContext2D): void;
}

interface Text {
  model: string;
  /** Which picture of the order this is, from 1. */
  number: number;
  title: string;
  /** The size; for a film, also the duration. Shown at the right. */
  measures: string;
  /** Each fact is `name value` and gets a row. */
  facts?: readonly string[] | undefined;
  /** How many rows at the lower edge of the frame become transparent later. */
  hiddenRows?: number | undefined;
}

export function layOutFilmEdge(frame: Frame, text: Text): FilmEdge {
  const { width, height, unit } = frame;
  const { hiddenRows = 0 } = text;
  const facts = (text.facts ?? []).map(factRow);
  const title = [...writable(text.title)].slice(0, MAX_TITLE_CHARACTERS).join('').toUpperCase();
  const marks = `DARKROOM · ${text.model.toUpperCase()} · ${text.number}A`;
  const families = familiesFor(title + marks + text.measures + facts.join(''));

  const size = Math.max(8, unit * 0.0195);
  const factSize =
    facts.length === 0 ? 0 : Math.min(size, (height * MAX_FACTS_SHARE) / (facts.length * FACT_ROW_HEIGHT));
  const rowHeight = size * ROW_HEIGHT;
  const strip = Math.ceil(rowHeight + facts.length * factSize * FACT_ROW_HEIGHT + (facts.length > 0 ? size * 0.6 : 0));
  const top = Math.max(0, height - hiddenRows - strip);
  const inset = unit * 0.04;
  const line = lineOf({ marks, title, measures: text.measures }, families, size, width - 2 * inset);
  return {
    top,
    paint(context) {
      context.save();
      context.beginPath();
      context.rect(0, 0, width, height - top); // without this clip, stacked accents of letters would reach the scene
      context.clip();
      context.fillStyle = css(BASE);
      context.fillRect(0, 0, width, height - top);
      context.fillStyle = css(INK);
      const baseline = strip - rowHeight / 2 + size * 0.36;
      setFont(context, families, size);
      context.fillText(line.left, inset, baseline);
      context.textAlign = 'right';
      context.fillText(line.right, width - inset, baseline);
      context.textAlign = 'left';
      setFont(context, families, factSize);
      for (const [i, fact] of facts.toReversed().entries())
        context.fillText(
          fact,
          inset,
          strip - rowHeight - size * 0.3 - i * factSize * FACT_ROW_HEIGHT,
          width - 2 * inset,
        );
      context.restore();
    },
  };
}

/** The text of a fact's row. If the fonts cannot write the value, only the name is shown. */
function factRow(fact: string): string {
  const [name = '', ...value] = fact.split(' ');
  return [...`${name} ${writable(value.join(' '))}`].slice(0, MAX_FACT_CHARACTERS).join('').trim();
}

/**
 * The parts of the title line for which there is room: the marks (service, model and number), the measures if they fit
 * beside the marks, and then as much of the title as fits.
 */
function lineOf(
  { marks, title, measures }: { marks: string; title: string; measures: string },
  families: string,
  size: number,
  width: number,
): { left: string; right: string } {
  const measuring = createCanvas(8, 8).getContext('2d');
  setFont(measuring, families, size);
  const widthOf = (text: string) => measuring.measureText(text).width;
  const gap = 2 * size;
  const right = widthOf(marks) + gap + widthOf(measures) <= width ? measures : '';
  const room = width - (right ? gap + widthOf(right) : 0);
  const shown = title && fitted(title, (part) => widthOf(`${marks} · ${part}`) <= room);
  return { left: shown ? `${marks} · ${shown}` : marks, right };
}

/** The text, or as much of its beginning as fits, with an ellipsis. Empty if fewer than six characters fit. */
function fitted(text: string, fits: (part: string) => boolean): string {
  if (fits(text)) return text;
  const characters = [...text];
  const part = (count: number) => `${characters.slice(0, count).join('').trimEnd()}…`;
  let [most, tooMany] = [0, characters.length];
  while (tooMany - most > 1) {
    const half = (most + tooMany) >> 1;
    if (fits(part(half))) most = half;
    else tooMany = half;
  }
  return most < LEAST_TITLE_CHARACTERS ? '' : part(most);
}

function setFont(context: SKRSContext2D, families: string, size: number): void {
  context.font = `${size}px ${families}`;
  context.fontVariationSettings = `"wght" ${WEIGHT}`;
  context.letterSpacing = `${size * SPACING}px`;
}

import type { SKRSContext2D } from '@napi-rs/canvas';
import { type Color, css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { fillCircle, fillFrame, type Scene } from './scene.ts';

type Motif = (context: SKRSContext2D, side: number, ink: Color, other: Color) => void;

// Each motif is drawn in a square with sides of `side`, centred on the origin.
const MOTIFS: Motif[] = [
  (context, side, ink) => {
    context.fillStyle = css(ink);
    context.beginPath();
    context.moveTo(-side / 2, -side / 2);
    context.arc(-side / 2, -side / 2, side, 0, Math.PI / 2);
    context.fill();
  },
  (context, side, ink, other) => {
    context.fillStyle = css(ink);
    fillCircle(context, { x: 0, y: 0, radius: side * 0.38 });
    context.fillStyle = css(other);
    fillCircle(context, { x: 0, y: 0, radius: side * 0.17 });
  },
  (context, side, ink, other) => {
    for (let i = 4; i > 0; i--) {
      context.fillStyle = css(i % 2 ? other : ink);
      context.beginPath();
      context.moveTo(-side / 2, side / 2);
      context.arc(-side / 2, side / 2, (side * i) / 4, -Math.PI / 2, 0);
      context.fill();
    }
  },
  (context, side, ink) => {
    context.fillStyle = css(ink);
    for (let i = 0; i < 5; i++) context.fillRect(-side / 2, -side / 2 + (side * i) / 5, side, side / 10);
  },
  (context, side, ink, other) => {
    context.fillStyle = css(ink);
    context.fillRect(-side / 2, -side / 2, side, side / 2);
    context.fillStyle = css(other);
    context.beginPath();
    context.arc(0, 0, side / 2, 0, Math.PI);
    context.fill();
  },
  (context, side, ink) => {
    context.fillStyle = css(ink);
    context.beginPath();
    context.moveTo(-side / 2, side / 2);
    context.lineTo(side / 2, -side / 2);
    context.lineTo(side / 2, side / 2);
    context.fill();
  },
  (context, side, ink, other) => {
    context.fillStyle = css(ink);
    context.beginPath();
    context.arc(-side / 2, 0, side / 2, -Math.PI / 2, Math.PI / 2);
    context.fill();
    context.fillStyle = css(other);
    context.beginPath();
    context.arc(side / 2, 0, side / 2, Math.PI / 2, -Math.PI / 2);
    context.fill();
  },
];

/** A floor of printed tiles. From time to time a tile makes a quarter turn. */
export const tiles: Scene = {
  words: anyOf(
    'pattern', 'geometric', 'bauhaus', 'tile', 'mosaic', 'poster', 'minimal', 'minimalist', 'logo', 'icon', 'design', 'cat', 'dog', 'food', 'retro',
    'плакат', 'узор', '图案', '海报', '几何', '猫', '狗',
  ), // prettier-ignore
  compose({ frame, palette, random, camera }) {
    const { width, height, unit, margin } = frame;
    const side = unit / random.whole(4, 6);
    const inks = [
      palette.accent,
      palette.second,
      palette.near,
      palette.far,
      palette.light,
      mix(palette.far, palette.near, 0.5),
      palette.skyTop,
    ];
    const columns = Math.ceil((width + 2 * margin) / side / 2) * 2 + 1;
    const rows = Math.ceil(height / side / 2) * 2 + 1;
    const cells = Array.from({ length: columns * rows }, (_, i) => {
      const ground = random.pick(inks);
      const others = inks.filter((ink) => Math.abs(ink.l - ground.l) > 0.1 || Math.abs(ink.h - ground.h) > 40);
      return {
        x: width / 2 + ((i % columns) - (columns - 1) / 2) * side,
        y: height / 2 + (Math.floor(i / columns) - (rows - 1) / 2) * side,
        ground,
        motif: random.pick(MOTIFS),
        ink: random.pick(others),
        other: random.pick(inks),
        quarter: random.whole(0, 3),
        // Seconds until the first turn, and seconds from one turn to the next.
        from: random.between(0.2, 4.5),
        every: random.between(3.5, 7),
      };
    });
    const angle = (cell: (typeof cells)[number], seconds: number) => {
      const since = Math.max(0, seconds - cell.from) / cell.every;
      const step = Math.min(1, (since % 1) * cell.every);
      return (cell.quarter + Math.floor(since) + step * step * (3 - 2 * step)) * (Math.PI / 2);
    };
    return [
      {
        paint(context) {
          context.fillStyle = css(palette.skyLow);
          fillFrame(context, { ...frame, margin: margin + 1 });
        },
      },
      {
        paint(context, seconds) {
          for (const cell of cells) {
            context.save();
            context.translate(cell.x, cell.y);
            context.beginPath();
            // Half a pixel larger on each side, so that there is no gap between neighbours.
            context.rect(-side / 2 - 0.5, -side / 2 - 0.5, side + 1, side + 1);
            context.clip();
            context.fillStyle = css(lighter(cell.ground, 0.02));
            context.fillRect(-side / 2 - 1, -side / 2 - 1, side + 2, side + 2);
            context.rotate(angle(cell, seconds));
            cell.motif(context, side, cell.ink, cell.other);
            context.restore();
          }
        },
        pose: (seconds) => ({
          x: camera.drift(1, seconds),
          zoom: camera.zoom(1, seconds),
          pivot: { x: width / 2, y: height / 2 },
        }),
      },
    ];
  },
};

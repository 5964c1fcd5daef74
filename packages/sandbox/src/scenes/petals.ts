import { css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { fillCircle, fillFrame, type Layer, type Point, type Scene, type SceneSetup } from './scene.ts';

/** One large flower of nested wreaths of petals. Each wreath turns at its own speed. */
export const petals: Scene = {
  words: anyOf(
    'flower', 'rose', 'petal', 'garden', 'blossom', 'sakura', 'bloom', 'lotus', 'butterfly', 'bird', 'mandala', 'spring', 'love', 'heart',
    'цветок', 'роза', 'сад', '花', '玫瑰', '樱花', '莲', '春', '蝴蝶',
  ), // prettier-ignore
  compose(setup) {
    const { frame, palette, random, camera } = setup;
    const { width, height, unit } = frame;
    const middle = { x: width * random.between(0.44, 0.56), y: height * random.between(0.44, 0.5) };
    const wreaths = random.whole(5, 6);
    const count = random.whole(8, 13);
    const backdrop: Layer = {
      plate: true,
      paint(context) {
        const gradient = context.createRadialGradient(
          middle.x,
          middle.y,
          0,
          middle.x,
          middle.y,
          Math.hypot(width, height) * 0.65,
        );
        gradient.addColorStop(0, css(palette.skyLow));
        gradient.addColorStop(1, css(mix(palette.skyTop, palette.far, 0.3)));
        context.fillStyle = gradient;
        fillFrame(context, frame);
      },
    };
    return [
      backdrop,
      leaves(setup, middle),
      ...Array.from({ length: wreaths }, (_, i) => wreath(setup, middle, { size: 1 - i / wreaths, count })),
      {
        paint(context) {
          for (let ring = 4; ring >= 0; ring--) {
            const seeds = 5 + ring * 6;
            for (let i = 0; i < seeds; i++) {
              const angle = (i / seeds) * 2 * Math.PI + ring;
              context.fillStyle = css(mix(palette.second, palette.light, 1 - ring / 5));
              fillCircle(context, {
                x: middle.x + Math.cos(angle) * ring * unit * 0.012,
                y: middle.y + Math.sin(angle) * ring * unit * 0.012,
                radius: unit * 0.005,
              });
            }
          }
        },
        pose: (seconds) => ({
          x: camera.drift(0.7, seconds),
          turn: -seconds * 0.05,
          zoom: camera.zoom(1, seconds),
          pivot: middle,
        }),
      },
    ];
  },
};

interface Wreath {
  /** 1 for the outermost wreath, towards 0 for the innermost. */
  size: number;
  /** How many petals the wreath has. */
  count: number;
}

function wreath({ frame, palette, random, camera }: SceneSetup, middle: Point, { size, count }: Wreath): Layer {
  const { unit } = frame;
  const length = unit * 0.4 * size ** 0.85;
  const breadth = ((length * Math.PI) / count) * random.between(0.95, 1.25);
  const tip = random.between(0.62, 0.95);
  const start = random.between(0, 6.28);
  const tone = mix(mix(palette.accent, palette.second, size * 0.35), palette.near, 0.42 * size);
  const speed = (0.03 + 0.05 * (1 - size)) * (Math.round(size * 10) % 2 ? 1 : -1);
  return {
    paint(context) {
      for (let i = 0; i < count; i++) {
        context.save();
        context.translate(middle.x, middle.y);
        context.rotate(start + (i / count) * 2 * Math.PI);
        const gradient = context.createLinearGradient(0, 0, length, 0);
        gradient.addColorStop(0, css(lighter(tone, -0.2)));
        gradient.addColorStop(0.6, css(tone));
        gradient.addColorStop(1, css(lighter(tone, 0.16)));
        context.fillStyle = gradient;
        context.beginPath();
        context.moveTo(0, 0);
        context.bezierCurveTo(length * 0.3, -breadth, length * tip, -breadth * 0.9, length, 0);
        context.bezierCurveTo(length * tip, breadth * 0.9, length * 0.3, breadth, 0, 0);
        context.fill();
        context.strokeStyle = css(lighter(tone, 0.22), 0.55);
        context.lineWidth = unit * 0.0016;
        context.stroke();
        context.restore();
      }
    },
    pose: (seconds) => ({
      x: camera.drift(0.7 - 0.3 * size, seconds),
      turn: seconds * speed,
      zoom: camera.zoom(1 - 0.5 * size, seconds) * (1 + 0.02 * Math.sin(seconds * 0.8 + size * 4)),
      pivot: middle,
    }),
  };
}

function leaves({ frame, palette, random, camera }: SceneSetup, middle: Point): Layer {
  const { width, height, unit } = frame;
  const reach = Math.hypot(width, height) * 0.62;
  const fronds = Array.from({ length: 16 }, (_, i) => ({
    angle: (i / 16) * 2 * Math.PI + random.between(-0.15, 0.15),
    length: reach * random.between(0.6, 1),
    tone: mix(palette.far, palette.near, random.between(0.1, 0.75)),
  }));
  return {
    paint(context) {
      for (const frond of fronds) {
        context.save();
        context.translate(middle.x, middle.y);
        context.rotate(frond.angle);
        context.fillStyle = css(frond.tone, 0.8);
        context.beginPath();
        context.moveTo(unit * 0.1, 0);
        context.quadraticCurveTo(frond.length * 0.5, -unit * 0.13, frond.length, 0);
        context.quadraticCurveTo(frond.length * 0.5, unit * 0.13, unit * 0.1, 0);
        context.fill();
        context.strokeStyle = css(lighter(frond.tone, 0.12), 0.7);
        context.lineWidth = unit * 0.002;
        context.beginPath();
        context.moveTo(unit * 0.1, 0);
        context.lineTo(frond.length * 0.97, 0);
        context.stroke();
        context.restore();
      }
    },
    pose: (seconds) => ({ x: camera.drift(0.2, seconds), turn: 0.05 * Math.sin(seconds * 0.35), pivot: middle }),
  };
}

import type { SKRSContext2D } from '@napi-rs/canvas';
import { type Color, css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { type Circle, fillCircle, fillFrame, type Layer, type Point, type Pose, type Scene, stars } from './scene.ts';

/** A large planet with rings. Smaller bodies move along the rings. */
export const orbits: Scene = {
  words: anyOf(
    'planet', 'space', 'orbit', 'galaxy', 'universe', 'cosmos', 'cosmic', 'astronaut', 'rocket', 'moon', 'star', 'satellite', 'atom', 'science',
    'космос', 'планета', '宇宙', '星', '行星', '太空', '月',
  ), // prettier-ignore
  compose(setup) {
    const { frame, palette, random, camera } = setup;
    const { width, height, unit } = frame;
    const x = width * random.between(0.38, 0.62);
    const y = height * random.between(0.42, 0.5);
    const core = unit * random.between(0.13, 0.18);
    const deep = lighter({ ...palette.near, l: Math.min(palette.near.l, 0.2) }, 0);
    const rings = Array.from({ length: random.whole(5, 7) }, (_, i) => ({
      radius: core * (1.55 + i * random.between(0.52, 0.66)),
      width: unit * random.pick([0.0016, 0.0022, 0.004, 0.009]),
      span: random.chance(0.35) ? 2 * Math.PI : random.between(2.2, 5.2),
      start: random.between(0, 6.28),
      speed: random.between(0.05, 0.16) * (random.chance(0.75) ? 1 : -1),
      tone: mix(palette.far, random.pick([palette.accent, palette.second, palette.light]), random.between(0.35, 1)),
    }));
    const bodies = rings.map((ring) => ({
      ring,
      angle: random.between(0, 6.28),
      radius: unit * random.between(0.012, 0.038),
      tone: random.pick([palette.accent, palette.second, palette.light, palette.far]),
    }));

    const backdrop: Layer = {
      plate: true,
      paint(context) {
        const gradient = context.createRadialGradient(x, y, core * 0.5, x, y, Math.hypot(width, height) * 0.72);
        gradient.addColorStop(0, css(mix(palette.skyLow, palette.far, 0.45)));
        gradient.addColorStop(0.35, css(mix(palette.skyTop, deep, 0.35)));
        gradient.addColorStop(1, css(deep));
        context.fillStyle = gradient;
        fillFrame(context, frame);
      },
    };
    const near = (seconds: number): Pose => ({
      x: camera.drift(0.8, seconds),
      zoom: camera.zoom(1, seconds),
      pivot: { x, y },
    });
    const ringLayer: Layer = {
      paint(context, seconds) {
        context.lineCap = 'round';
        for (const ring of rings) {
          const from = ring.start + ring.speed * seconds;
          context.lineWidth = ring.width;
          context.strokeStyle = css(ring.tone, 0.85);
          context.beginPath();
          context.arc(x, y, ring.radius, from, from + ring.span);
          context.stroke();
        }
        for (const body of bodies) {
          const angle = body.angle + body.ring.speed * 1.6 * seconds;
          const position = {
            x: x + Math.cos(angle) * body.ring.radius,
            y: y + Math.sin(angle) * body.ring.radius,
          };
          drawBall(context, { ...position, radius: body.radius }, body.tone, { x, y });
        }
      },
      pose: near,
    };
    const planet: Layer = {
      paint(context) {
        const glow = context.createRadialGradient(x, y, core * 0.8, x, y, core * 2.4);
        glow.addColorStop(0, css(palette.accent, 0.5));
        glow.addColorStop(1, css(palette.accent, 0));
        context.fillStyle = glow;
        fillFrame(context, frame);
        drawBall(context, { x, y, radius: core }, palette.accent, { x: x - core, y: y - core * 1.2 });
        drawBands(context, { x, y, radius: core }, mix(palette.accent, palette.second, 0.6));
      },
      pose: (seconds) => ({ ...near(seconds), turn: seconds * 0.02 }),
    };
    return [backdrop, stars(setup, 320), planet, ringLayer];
  },
};

/** @param light the position of the light */
function drawBall(context: SKRSContext2D, { x, y, radius }: Circle, tone: Color, light: Point): void {
  const distance = Math.hypot(light.x - x, light.y - y) || 1;
  const lit = { x: x + ((light.x - x) / distance) * radius * 0.55, y: y + ((light.y - y) / distance) * radius * 0.55 };
  const shade = context.createRadialGradient(lit.x, lit.y, radius * 0.05, lit.x, lit.y, radius * 1.6);
  shade.addColorStop(0, css(lighter(tone, 0.16)));
  shade.addColorStop(0.45, css(tone));
  shade.addColorStop(1, css(lighter(tone, -0.4)));
  context.fillStyle = shade;
  fillCircle(context, { x, y, radius });
}

function drawBands(context: SKRSContext2D, { x, y, radius }: Circle, tone: Color): void {
  context.save();
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.clip();
  context.translate(x, y);
  context.rotate(-0.35);
  for (const [i, height] of [0.12, 0.05, 0.2, 0.07, 0.1].entries()) {
    context.fillStyle = css(tone, 0.12 + 0.05 * (i % 3));
    context.fillRect(-radius, radius * (-0.7 + i * 0.33), 2 * radius, radius * height);
  }
  context.restore();
}

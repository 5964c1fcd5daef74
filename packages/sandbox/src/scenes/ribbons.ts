import { css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { type Layer, type Scene, sky } from './scene.ts';

/** Ribbons that flow across the frame in parallel and fold. */
export const ribbons: Scene = {
  words: anyOf(
    'wind', 'music', 'dance', 'dancer', 'smoke', 'abstract', 'silk', 'dream', 'flow', 'energy', 'aurora', 'dragon', 'fire', 'jazz', 'sound',
    'музыка', 'ветер', 'танец', '音乐', '风', '舞', '抽象', '龙', '梦',
  ), // prettier-ignore
  compose({ frame, palette, random, camera }) {
    const { width, height, unit, margin } = frame;
    const slope = random.between(-0.25, 0.25);
    const bend = {
      reach: unit * random.between(0.1, 0.2),
      turns: random.between(0.8, 1.5),
      phase: random.between(0, 6.28),
    };
    const count = random.whole(20, 26);
    const bands = Array.from({ length: count }, (_, i) => {
      const share = i / (count - 1);
      return {
        share,
        breadth: unit * random.between(0.012, 0.06),
        lag: random.between(-0.35, 0.35),
        reach: random.between(0.6, 1.25),
        speed: random.between(0.3, 0.55),
        tone: random.chance(0.16)
          ? palette.accent
          : random.chance(0.14)
            ? palette.second
            : lighter(mix(palette.far, palette.near, share * 0.9), random.between(-0.03, 0.08)),
      };
    });
    const steps = 48;
    const current: Layer = {
      paint(context, seconds) {
        for (const band of bands) {
          const centre = (at: number) =>
            height * (0.12 + 0.95 * band.share) +
            (at - 0.5) * slope * width +
            Math.sin(at * bend.turns * 2 * Math.PI + bend.phase + band.lag + band.share * 1.8 + seconds * band.speed) *
              bend.reach *
              band.reach;
          const thick = (at: number) =>
            band.breadth *
            (0.55 + 0.45 * Math.sin(at * 5 + band.lag * 9 + seconds * band.speed * 1.3 + band.share * 7));
          const x = (i: number) => -margin + ((width + 2 * margin) * i) / steps;
          const gradient = context.createLinearGradient(0, 0, width, 0);
          gradient.addColorStop(0, css(lighter(band.tone, -0.08)));
          gradient.addColorStop(0.5, css(lighter(band.tone, 0.06)));
          gradient.addColorStop(1, css(lighter(band.tone, -0.04)));
          context.fillStyle = gradient;
          context.beginPath();
          for (let i = 0; i <= steps; i++) context.lineTo(x(i), centre(i / steps) - thick(i / steps));
          for (let i = steps; i >= 0; i--) context.lineTo(x(i), centre(i / steps) + thick(i / steps));
          context.fill();
        }
      },
      pose: (seconds) => ({
        x: camera.drift(1, seconds),
        zoom: camera.zoom(0.8, seconds),
        pivot: { x: width / 2, y: height / 2 },
      }),
    };
    return [sky(frame, [[0, palette.skyTop], [0.55, palette.skyLow], [1, mix(palette.skyLow, palette.near, 0.6)]]), current]; // prettier-ignore
  },
};

import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { fillGradient, type RowColor } from './fill-gradient.ts';

const AREA = { x: 0, y: -20, width: 3, height: 240 };
const COLORS: RowColor[] = [
  [-20, 'rgba(255,40,0,0.1)'],
  [61.4, 'rgba(10,250,90,0.9)'],
  [61.9, 'rgba(10,20,90,0.9)'],
  [150, 'rgba(0,0,0,0.2)'],
  [220, 'rgba(0,0,0,0.2)'],
];

it('gives the colours of one gradient, without seams', () => {
  const inBands = painted((context) => fillGradient(context, AREA, COLORS));
  const inOne = painted((context) => {
    const gradient = context.createLinearGradient(0, AREA.y, 0, AREA.y + AREA.height);
    for (const [row, color] of COLORS) gradient.addColorStop((row - AREA.y) / AREA.height, color);
    context.fillStyle = gradient;
    context.fillRect(AREA.x, AREA.y, AREA.width, AREA.height);
  });
  const apart = inOne.map((value, i) => Math.abs(value - (inBands[i] ?? NaN)));
  expect(Math.max(...apart)).toBeLessThanOrEqual(2);
});

function painted(paint: (context: SKRSContext2D) => void): number[] {
  const context = createCanvas(3, 200).getContext('2d');
  context.fillStyle = '#888';
  context.fillRect(0, 0, 3, 200);
  paint(context);
  return [...context.getImageData(0, 0, 3, 200).data];
}

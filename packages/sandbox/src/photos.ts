import { type Canvas, createCanvas, ImageData } from '@napi-rs/canvas';
import sharp from 'sharp';
import type { Random } from './random.ts';
import { UndecodableImage } from './render-errors.ts';
import type { SourceImage } from './render-order.ts';
import type { Frame, Layer } from './scenes/scene.ts';

// Decoded pixels are used once, so libvips' cache would only waste memory.
sharp.cache(false);

/** Decodes as shown (EXIF orientation applied), cropped to cover exactly this size. @throws UndecodableImage */
export function decodeToCover(image: SourceImage, width: number, height: number): Promise<Canvas> {
  return decode(image, { width, height, fit: 'cover' });
}

/** Lays the client's images as tilted prints on the upper part of the picture. @throws UndecodableImage */
export async function layPrints(frame: Frame, images: SourceImage[], random: Random): Promise<Layer[]> {
  if (images.length === 0) return [];
  const places = placesFor(frame, images.length);
  const prints: { print: Canvas; x: number; y: number; turn: number; phase: number }[] = [];
  for (const [i, image] of images.entries()) {
    const place = places[i];
    if (!place) continue;
    // One at a time, each scaled down while it is decoded: sixteen of 33 megapixels would take 2 GB.
    const side = Math.max(2, Math.round(place.side));
    const photo = await decode(image, { width: side, height: side, fit: 'inside' });
    const turn = random.between(0.025, 0.09) * (random.chance(0.5) ? 1 : -1);
    prints.push({ print: withBorder(photo, frame.unit), x: place.x, y: place.y, turn, phase: random.between(0, 6.28) });
  }
  return [
    {
      paint(context, seconds) {
        for (const { print, x, y, turn, phase } of prints) {
          context.save();
          context.translate(x, y + frame.unit * 0.008 * Math.sin(seconds * 0.9 + phase));
          context.rotate(turn + 0.02 * Math.sin(seconds * 0.6 + phase) - 0.02 * Math.sin(phase));
          context.drawImage(print, -print.width / 2, -print.height / 2);
          context.restore();
        }
      },
    },
  ];
}

async function decode(
  image: SourceImage,
  resize: { width: number; height: number; fit: 'cover' | 'inside' },
): Promise<Canvas> {
  try {
    const { data, info } = await sharp(image.path, { failOn: 'error' })
      .autoOrient()
      .resize(resize)
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const canvas = createCanvas(info.width, info.height);
    const pixels = new Uint8ClampedArray(data.buffer, data.byteOffset, data.byteLength);
    canvas.getContext('2d').putImageData(new ImageData(pixels, info.width, info.height), 0, 0);
    return canvas;
  } catch (error) {
    throw new UndecodableImage(image.param, error);
  }
}

/** Adds a white border and a soft shadow. */
function withBorder(photo: Canvas, unit: number): Canvas {
  const border = Math.max(2, Math.round(unit * 0.014));
  const shadow = Math.max(4, Math.round(unit * 0.03));
  const canvas = createCanvas(photo.width + 2 * (border + shadow), photo.height + 2 * (border + shadow));
  const context = canvas.getContext('2d');
  context.shadowColor = 'rgba(0,0,0,0.45)';
  context.shadowBlur = shadow * 0.8;
  context.shadowOffsetY = shadow * 0.3;
  context.fillStyle = '#faf8f4';
  context.fillRect(shadow, shadow, photo.width + 2 * border, photo.height + 2 * border);
  context.shadowColor = 'transparent';
  context.drawImage(photo, shadow + border, shadow + border);
  return canvas;
}

/** Centres of the prints, row by row above the lettering, and the longest side each may have. */
function placesFor({ width, height, unit }: Frame, count: number): { x: number; y: number; side: number }[] {
  const area = { x: width * 0.06, y: height * 0.06, width: width * 0.88, height: height * 0.54 };
  const cellSide = (columns: number) => Math.min(area.width / columns, area.height / Math.ceil(count / columns));
  const columns = Array.from({ length: count }, (_, i) => i + 1).reduce(
    (best, n) => (cellSide(n) > cellSide(best) ? n : best),
    1,
  );
  const rows = Math.ceil(count / columns);
  const side = Math.min(cellSide(columns) * 0.84, unit * 0.52);
  return Array.from({ length: count }, (_, i) => {
    const row = Math.floor(i / columns);
    const inRow = row === rows - 1 ? count - row * columns : columns;
    const step = Math.min(area.width / inRow, side * 1.35);
    return {
      x: area.x + area.width / 2 + ((i % columns) - (inRow - 1) / 2) * step,
      y: area.y + (area.height / rows) * (row + 0.5),
      side,
    };
  });
}

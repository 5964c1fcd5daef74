import { PictureStream } from './openai-stream.ts';

const event = (type: string, base64: string) =>
  `data: ${JSON.stringify({ type: `image_generation.${type}`, b64_json: base64 })}\n\n`;

describe('the event stream of a picture', () => {
  it('gives early stages and the picture, however it is cut', () => {
    const bytes = Buffer.from(`: open\n\n${event('partial_image', 'YQ==')}${event('completed', 'Yg==')}data: [DONE]\n`);
    for (const size of [1, 7, bytes.length]) {
      const partials: string[] = [];
      const stream = new PictureStream((base64) => void partials.push(base64));
      for (let at = 0; at < bytes.length; at += size) stream.read(bytes.subarray(at, at + size));
      expect([partials, stream.completed]).toEqual([['YQ=='], 'Yg==']);
    }
  });

  it('is refused after too many lines', () => {
    const stream = new PictureStream(() => undefined);
    stream.read(Buffer.from('\n'.repeat(10_000)));
    expect(() => stream.read(Buffer.from('\n'))).toThrow('more than 10000 lines');
  });

  it('is refused with a line that is too long, before the line ends', () => {
    const stream = new PictureStream(() => undefined);
    const part = Buffer.alloc(7 * 2 ** 20, 'a');
    for (let parts = 0; parts < 7; parts += 1) stream.read(part);
    expect(() => stream.read(Buffer.from('a'))).toThrow('more than 51380224 bytes');
  });
});

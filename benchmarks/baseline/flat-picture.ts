// The cheapest possible image: one colour, encoded as PNG by sharp. A message is the size of an image; the reply is the
// seconds that it took.
import sharp from 'sharp';

process.on('message', async ({ width, height }: { width: number; height: number }) => {
  const startedAt = performance.now();
  await sharp({ create: { width, height, channels: 3, background: '#345' } })
    .png()
    .toBuffer();
  process.send?.((performance.now() - startedAt) / 1000);
});
process.send?.('ready');

// Loaded before the program (--import): the sandbox's renderer answers at once with one small picture, so that what is measured is
// the way of a task and not the drawing. Everything around it stays the program's own: claim, intent, probe, storage, end.
import sharp from 'sharp';

const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#345' } })
  .png()
  .toBuffer();
const path = '../../dist/providers/sandbox/sandbox.provider.js';
const { SandboxProvider } = await import(new URL(path, import.meta.url).href);
SandboxProvider.prototype.generate = async () => [picture];

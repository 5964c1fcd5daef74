// Loaded before the program (--import): the sandbox's renderer returns one small image at once, so that the benchmark
// measures the pipeline and not the rendering. Everything around it is the real program: claim, intent, probe, storage,
// end.
import sharp from 'sharp';

const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#345' } })
  .png()
  .toBuffer();
const path = '../../dist/providers/sandbox/sandbox.provider.js';
const { SandboxProvider } = await import(new URL(path, import.meta.url).href);
SandboxProvider.prototype.prepare = () => ({ approximations: [], generate: async () => [picture] });

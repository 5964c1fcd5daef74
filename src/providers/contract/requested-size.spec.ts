import { inputImage, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { gptImage2 } from '../../models/catalog/gpt-image-2.ts';
import type { ProviderRequest } from './provider.ts';
import { requestedSize } from './requested-size.ts';

const aCat: ProviderRequest = {
  taskId: 'task_01',
  model: 'nano-banana-2',
  kind: 'image',
  input: { prompt: 'a cat', aspect_ratio: 'auto', resolution: '2K', n: 1 },
  images: { references: [], firstFrame: null },
  upstream: { model: '', baseUrl: '', apiKey: null, durationPolicy: 'exact', pollIntervalMs: null },
};

it("is the model's own size, nearest to the first reference image", async () => {
  const references = [await inputImage(160, 90), await inputImage(90, 160)];
  const request = requestFor(aCat, { images: { references, firstFrame: null } });
  expect(requestedSize(request)).toEqual({ ratio: '16:9', size: { width: 2752, height: 1536 } });
});

it("is that of the upstream's model where it makes other sizes", () => {
  const { size } = requestedSize(aCat, { sizes: gptImage2.sizes });
  expect(size).toEqual({ width: 2048, height: 2048 });
});

it.each([
  ['a ratio', { aspect_ratio: '5:4' }, 'aspect_ratio'],
  ['a resolution', { aspect_ratio: '1:1', resolution: '1K' }, 'resolution'],
  ['a resolution of auto', { resolution: '1K' }, 'resolution'],
])('refuses %s that the model has no size for', (_what, input, param) => {
  expect(() => requestedSize(requestFor(aCat, { input }))).toThrow(
    expect.objectContaining({ name: 'UnsupportedRequest', param }),
  );
});

it('refuses a size that the upstream does not take', () => {
  expect(() => requestedSize(aCat, { accepts: () => false })).toThrow(
    expect.objectContaining({ name: 'UnsupportedRequest', param: 'resolution' }),
  );
});

import { charactersOf } from './tasks.service.ts';

describe('the cache of finished tasks', () => {
  it('weighs image URLs and metadata, not only the prompt', () => {
    const reference_images = Array.from({ length: 16 }, () => `https://a.example/${'x'.repeat(2_000)}`);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'.repeat(512)]));
    const task = { input: { prompt: 'a dot', reference_images }, metadata, result: null };
    expect(charactersOf(task)).toBeGreaterThan(16 * 2_000 + 16 * 512);
  });
});

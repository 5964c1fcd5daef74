import { OpenArchives } from './open-archives.ts';

describe('the archives that are being read', () => {
  it('are four of a key, and one that ends makes room', () => {
    const open = new OpenArchives();
    const [release] = Array.from({ length: 4 }, () => open.take('key_a'));
    expect(() => open.take('key_a')).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterS: 10 }));
    open.take('key_b');
    release!();
    open.take('key_a');
    expect(() => open.take('key_a')).toThrow(expect.objectContaining({ status: 429 }));
  });

  it('are 50 of all', () => {
    const open = new OpenArchives();
    const releases = Array.from({ length: 50 }, (_, n) => open.take(`key_${n}`));
    expect(() => open.take('key_x')).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    releases[7]!();
    open.take('key_x');
  });
});

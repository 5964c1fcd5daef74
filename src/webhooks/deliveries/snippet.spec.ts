import { snippetOf } from './attempt.ts';

const bytes = (text: string) => Buffer.byteLength(text);

describe('the snippet of a response', () => {
  it('is the text, which is empty for an empty response', () => {
    expect(snippetOf(Buffer.from('no such order'))).toBe('no such order');
    expect(snippetOf(Buffer.alloc(0))).toBe('');
  });

  it('is at most 4 kB and never ends in a partial character', () => {
    expect(snippetOf(Buffer.from('x'.repeat(20_000)))).toBe('x'.repeat(4096));
    expect(snippetOf(Buffer.from('漢'.repeat(5000)))).toBe('漢'.repeat(1365));
    expect(snippetOf(Buffer.from(`x${'🙂'.repeat(5000)}`))).toBe(`x${'🙂'.repeat(1023)}`);
  });

  it('contains nothing that a text column rejects', () => {
    expect(snippetOf(Buffer.from('a\0b'))).toBe('a\ufffdb');
    const binary = snippetOf(Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7) % 256)));
    expect(binary.isWellFormed()).toBe(true);
    expect(binary).not.toContain('\0');
    expect(bytes(binary)).toBeLessThanOrEqual(4096);
  });
});

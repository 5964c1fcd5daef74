import { parse } from 'graphql';
import { documentStore } from './graphql-options.ts';

describe('the store of documents', () => {
  it('has what it was given, until it is deleted', async () => {
    const documents = documentStore();
    const document = parse('{ a }');
    await documents.set('a', document);
    expect(await documents.get('a')).toBe(document);
    await documents.delete('a');
    expect(await documents.get('a')).toBeUndefined();
  });

  it('is bounded in documents and in their characters', async () => {
    const kept = async (count: number, text: string) => {
      const documents = documentStore();
      for (let at = 0; at < count; at += 1) await documents.set(String(at), parse(text));
      const found = await Promise.all(Array.from({ length: count }, (_, at) => documents.get(String(at))));
      return found.filter((each) => each !== undefined).length;
    };
    expect(await kept(210, '{ a }')).toBe(200);
    expect(await kept(5, `{ a }${' '.repeat(900_000)}`)).toBe(2);
  });
});

import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

/** The largest that is allowed takes 530 kB (measured). */
const MAX_DOCUMENTS = 200;
const MAX_CHARACTERS = 2_000_000;

/**
 * Documents that Apollo has parsed and validated. Apollo's own store counts neither the text of a document nor its tokens, which it
 * keeps, so clients without a key could fill the memory. `limitDocument` bounds the tokens.
 */
export function documentStore(): DocumentStore {
  const documents = new LRUCache<string, DocumentNode>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ loc }) => 1 + (loc?.source.body.length ?? 0),
  });
  return {
    get: async (key) => documents.get(key),
    set: async (key, document) => void documents.set(key, document),
    delete: async (key) => documents.delete(key),
  };
}

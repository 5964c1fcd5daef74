import { Client, fetchExchange, type TypedDocumentNode } from '@urql/core';
import { CallError, fromGraphQL, SIGNED_OUT } from './errors.ts';
import { lostSession } from './session.ts';

const client = new Client({
  url: '/graphql',
  exchanges: [fetchExchange],
  preferGetMethod: false,
  requestPolicy: 'network-only',
  fetchOptions: { cache: 'no-store' },
});

type Variables = Record<string, unknown>;

/** Runs a query or a mutation. @throws CallError */
export async function run<Result, Given extends Variables>(
  document: TypedDocumentNode<Result, Given>,
  variables: Given,
  kind: 'query' | 'mutation' = 'query',
): Promise<Result> {
  const { data, error } = await client[kind](document, variables).toPromise();
  if (error) {
    const fault = fromGraphQL(error);
    if (SIGNED_OUT.has(fault.code)) lostSession();
    throw fault;
  }
  if (!data) throw new CallError('The service sent an empty answer.');
  return data;
}

export const mutate = <Result, Given extends Variables>(document: TypedDocumentNode<Result, Given>, variables: Given) =>
  run(document, variables, 'mutation');

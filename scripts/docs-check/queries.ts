import type { Real } from './made-up.ts';
import type { Outcome } from './session.ts';

/** Sends a GraphQL document without variables. */
export async function runQueries(query: string, { url, key }: Real): Promise<Outcome> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const body = (await answer.json()) as { errors?: unknown };
  return { ok: answer.ok && body.errors === undefined, output: JSON.stringify(body, null, 2) };
}

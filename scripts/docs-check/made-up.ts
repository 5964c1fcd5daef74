/** The values of this run that replace those written in the pages: an address, a key, a folder, a port. */

export interface Real {
  /** The URL of the service that the page talks to. */
  url: string;
  key: string;
  clone: string;
  /** The port of webhook receivers, in place of 4000. */
  receiverPort: number;
}

/** How the pages write the values of `Real`. */
const MADE_UP = {
  url: /http:\/\/(?:127\.0\.0\.1|localhost):3000/g,
  port: /\b3000\b/g,
  key: /dr_…/g,
  clone: /\/path\/to\/darkroom/g,
  receiverPort: /\b4000\b/g,
  /** The run has only the sandbox as provider. */
  provider: /--provider openai\b/g,
};

/** Ids written in the pages, each with the path at which the newest real id is read. */
const IDS = [
  { shown: /task_01jd8e5t9kf3qs7m2v4xw6yzab/g, path: '/v1/tasks?status=succeeded&limit=1', field: 'task_id' },
  { shown: /key_01jd8e5t9kf3qs7m2v4xw6yzac/g, path: '/v1/api_keys?limit=1', field: 'id' },
  { shown: /pause_01jd8e5t9kf3qs7m2v4xw6yzab/g, path: '/v1/operations/pauses', field: 'id' },
  { shown: /host-7-1f2e3d4c/g, path: '/v1/operations/processes', field: 'id' },
];

/** The text with the real values, as a reader would type it. */
export async function withReal(text: string, real: Real): Promise<string> {
  let typed = text
    .replaceAll(MADE_UP.url, real.url)
    .replaceAll(MADE_UP.port, new URL(real.url).port)
    .replaceAll(MADE_UP.key, real.key)
    .replaceAll(MADE_UP.clone, real.clone)
    .replaceAll(MADE_UP.receiverPort, String(real.receiverPort))
    .replaceAll(MADE_UP.provider, '--provider sandbox');
  for (const { shown, path, field } of IDS) {
    if (typed.search(shown) !== -1) typed = typed.replaceAll(shown, await newest(real, path, field));
  }
  return typed;
}

async function newest({ url, key }: Real, path: string, field: string): Promise<string> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await answer.json()) as { data: Record<string, string>[] };
  const id = data[0]?.[field];
  if (id === undefined) throw new Error(`There is nothing at ${path} yet.`);
  return id;
}

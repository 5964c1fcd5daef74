import { type Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const BODY = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', n: 1, size: '1024x1024' });
/** The status when other work of the machine delayed the database too long. */
const BUSY = 503;
const RETRY_MS = 100;
const MOST_RETRIES = 50;

export interface Asked {
  /** The base URL, without a slash at its end. */
  url: string;
  apiKey: string;
  agent: Agent;
  /** The least bytes of a picture. */
  bytes: number;
}

/** Sends OpenAI's call and reads the whole answer. Asks again after a 503. @returns how often it asked again */
export async function askForPicture(asked: Asked): Promise<number> {
  for (let retries = 0; ; retries += 1) {
    const { status, received } = await send(asked);
    if (status === BUSY && retries < MOST_RETRIES) {
      await sleep(RETRY_MS);
      continue;
    }
    if (status !== 200 || received < (asked.bytes * 4) / 3)
      throw new Error(`${asked.url}: ${status} with ${received} bytes`);
    return retries;
  }
}

/** Only counts the bytes of the answer, because the client shares the processors with what is measured. */
function send({ url, apiKey, agent }: Asked): Promise<{ status: number; received: number }> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(BODY),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/images/generations`, { method: 'POST', agent, headers }, (answer) => {
      let received = 0;
      answer
        .on('data', (chunk: Buffer) => (received += chunk.length))
        .on('end', () => resolve({ status: answer.statusCode ?? 0, received }))
        .on('error', reject);
    });
    sent.on('error', reject).end(BODY);
  });
}

/** @throws Error unless the answer has a PNG as `b64_json` */
export async function assertPng(url: string, apiKey: string): Promise<void> {
  const answer = await fetch(`${url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: BODY,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  const { data } = JSON.parse(text) as { data: [{ b64_json: string }] };
  if (!Buffer.from(data[0].b64_json, 'base64').subarray(1, 4).equals(Buffer.from('PNG')))
    throw new Error(`${url} answered with something else than a PNG.`);
}

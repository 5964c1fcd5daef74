/**
 * @param key null: the receiver needs no key
 * @param more headers
 * @returns the body of the response; empty if there is none
 * @throws Error with the response if it is no success
 */
export async function post<Answer>(
  url: string,
  key: string | null,
  body: object,
  more: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...more },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text || '{}') as Answer;
}

/**
 * @param key null: to somebody who asks for none
 * @param more headers
 * @returns the answer's body; empty where there is none
 * @throws Error with what was answered instead of a success
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

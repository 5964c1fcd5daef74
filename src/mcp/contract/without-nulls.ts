type Fields = Record<string, unknown>;

/** Drops the null parameters of a message, or of each message in a batch, because the SDK refuses them. */
export function withoutNulls(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutNulls);
  if (!isObject(body) || typeof body.method !== 'string') return body;
  const { params, ...message } = body;
  if (params === null || params === undefined) return message;
  return { ...message, params: isObject(params) ? present(params) : params };
}

/** Drops null fields, because agent frameworks send null for the arguments that their model has left out. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

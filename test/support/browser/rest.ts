/** Calls the service with the key of the visitor, as another client does. */
export class Rest {
  constructor(
    private readonly baseUrl: string,
    private readonly key: string,
  ) {}

  async call<T = Record<string, unknown>>(
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(this.baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  }

  async make(body: object): Promise<string> {
    return (await this.call<{ task_id: string }>('/v1/generations', body)).task_id;
  }

  finished<T>(body: object): Promise<T> {
    return this.call<T>('/v1/generations', body, { prefer: 'wait=60' });
  }
}

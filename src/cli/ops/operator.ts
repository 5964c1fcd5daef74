/** Answers what `darkroom ops` asks for: the service over HTTP, or this process on the database of the service. */
export interface Operator {
  /** A call that may be repeated without harm. */
  call<Answer>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer>;
  /** A call that adds something: it is sent once. Null without a body in the answer. */
  once<Answer>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer | null>;
}

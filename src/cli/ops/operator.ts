/** Answers the calls of `darkroom ops`: the service over HTTP, or this process on the database of the service. */
export interface Operator {
  /** A call that may be repeated without harm. */
  call<Answer>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer>;
  /** A call that is sent once, because a repetition would add more or fail. null if the answer has no body. */
  once<Answer>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer | null>;
}

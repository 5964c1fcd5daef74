/** One HTTP call in a binding of the provider `http`. */
export interface DeclaredCall {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  headers?: Readonly<Record<string, string>>;
  json?: Readonly<Record<string, unknown>>;
  form?: Readonly<Record<string, unknown>>;
  id?: string;
  every_s?: number;
  status?: string;
  done?: readonly string[];
  failed?: readonly string[];
  progress?: string;
  cancelled?: readonly string[];
  certain?: boolean;
}

/**
 * Which requests a binding takes. Each parameter must be present or absent, or must have one of the given values. A
 * list of values also permits a request without the parameter.
 */
export type Condition = Readonly<Record<string, 'present' | 'absent' | readonly (string | number | boolean)[]>>;

/** How a provider serves a model, as the declaration says. The code in src/providers reads and checks it. */
export interface DeclaredBinding {
  provider: string;
  dialect?: string;
  model?: string;
  workflow?: string;
  base_url?: string;
  base_urls?: readonly string[];
  credential?: string | null;
  concurrency?: number;
  duration_policy?: 'exact' | 'nearest';
  on_unknown_outcome?: 'fail' | 'resubmit';
  price_note?: string;
  when?: Condition;
  send?: Readonly<Record<string, unknown>>;
  map?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  approximate?: readonly string[];
  mask?: 'white' | 'alpha';
  max_n?: number;
  timeout_s?: number;
  result_hosts?: readonly string[];
  auth?: string;
  submit?: DeclaredCall;
  poll?: DeclaredCall;
  cancel?: DeclaredCall;
  lookup?: DeclaredCall;
  outputs?: string;
  error?: string;
  errors?: Readonly<Partial<Record<'policy' | 'input' | 'quota' | 'busy', readonly string[]>>>;
}

import type { CallOptions, Transport } from '../http/transport.ts';
import { type Pages, pages } from '../pages.ts';
import type {
  ApiKey,
  CreateApiKeyInput,
  Estimate,
  GenerationRequest,
  UpdateApiKeyInput,
  UsagePage,
} from '../types.gen.ts';

export interface UsageQuery {
  /** Unix seconds. */
  start_time: number;
  end_time?: number;
  bucket_width?: '1h' | '1d' | '1M' | 'all';
  /** The time zone of the buckets, such as Europe/Berlin. */
  timezone?: string;
  /**
   * What to group by: any of model, kind, provider, resolution, source, batch_id, error_code, api_key_id and one
   * metadata.<key>.
   */
  group_by?: readonly string[];
  /** The id of another key, or `all` for all keys. Both need the scope keys:manage. */
  api_key_id?: string;
  limit?: number;
  page?: string;
}

/** The usage and cost of tasks. */
export class Usage {
  constructor(private readonly transport: Transport) {}

  get(query: UsageQuery, options: CallOptions = {}): Promise<UsagePage> {
    const { group_by, ...rest } = query;
    return this.transport.json('GET', '/v1/usage', {
      ...options,
      query: { ...rest, group_by: group_by?.map(inList).join(',') },
    });
  }
}

/** Quotes a name that contains a comma, as in CSV. */
const inList = (name: string): string => (name.includes(',') ? `"${name.replaceAll('"', '""')}"` : name);

/** What a generation would cost, and when it would be ready. */
export class Estimates {
  constructor(private readonly transport: Transport) {}

  create(request: GenerationRequest, options: CallOptions = {}): Promise<Estimate> {
    return this.transport.json('POST', '/v1/estimates', { ...options, body: request, isRepeatable: true });
  }
}

/** The API keys of the service. Needs the scope keys:manage. */
export class ApiKeys {
  constructor(private readonly transport: Transport) {}

  /** Only this answer and that of `rotate` contain `key`. */
  create(input: CreateApiKeyInput, options: CallOptions = {}): Promise<ApiKey> {
    return this.transport.json('POST', '/v1/api_keys', { ...options, body: input });
  }

  list(query: { limit?: number } = {}, options: CallOptions = {}): Pages<ApiKey> {
    return pages(this.transport, '/v1/api_keys', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<ApiKey> {
    return this.transport.json('GET', pathOf(id), options);
  }

  update(id: string, changes: UpdateApiKeyInput, options: CallOptions = {}): Promise<ApiKey> {
    return this.transport.json('PATCH', pathOf(id), { ...options, body: changes, isRepeatable: true });
  }

  /** @param overlapHours how long the old key still works */
  rotate(id: string, overlapHours = 0, options: CallOptions = {}): Promise<ApiKey> {
    return this.transport.json('POST', `${pathOf(id)}/rotate`, { ...options, body: { overlap_hours: overlapHours } });
  }

  revoke(id: string, options: CallOptions = {}): Promise<void> {
    return this.transport.json('DELETE', pathOf(id), options);
  }
}

const pathOf = (id: string): string => `/v1/api_keys/${encodeURIComponent(id)}`;

import { type Answer, Api } from './api.ts';
import { eventually } from '../wait.ts';

export interface EndpointBody {
  id: string;
  object: string;
  url: string;
  events: string[];
  description: string;
  status: string;
  disabled_reason: string | null;
  secret_hint: string;
  created_at: number;
  secret?: string;
}

export interface DeliveryBody {
  id: string;
  object: string;
  event_id: string;
  event_type: string;
  attempt: number;
  trigger: string;
  attempted_at: number;
  duration_ms: number | null;
  status_code: number | null;
  error: string | null;
  next_attempt_at: number | null;
  response_snippet: string | null;
}

interface ListBody<Item> {
  object: string;
  data: Item[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

/** A client of the webhook routes, with one API key. */
export class WebhookClient {
  constructor(private readonly api: Api) {}

  register<Body = EndpointBody>(body: object): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', '/v1/webhook_endpoints', body);
  }

  /** Registers an endpoint. @returns the endpoint with its secret */
  async endpoint(url: string, more: object = {}): Promise<EndpointBody & { secret: string }> {
    const { status, body } = await this.register({ url, ...more });
    if (status !== 201 || !body.secret) throw new Error(`No endpoint: ${status} ${JSON.stringify(body)}`);
    return body as EndpointBody & { secret: string };
  }

  read<Body = EndpointBody>(id: string): Promise<Answer<Body>> {
    return this.api.get<Body>(`/v1/webhook_endpoints/${id}`);
  }

  list(query = ''): Promise<Answer<ListBody<EndpointBody>>> {
    return this.api.get(`/v1/webhook_endpoints${query}`);
  }

  change<Body = EndpointBody>(id: string, body: object): Promise<Answer<Body>> {
    return this.api.call<Body>('PATCH', `/v1/webhook_endpoints/${id}`, body);
  }

  remove<Body = undefined>(id: string): Promise<Answer<Body>> {
    return this.api.call<Body>('DELETE', `/v1/webhook_endpoints/${id}`);
  }

  rotate<Body = EndpointBody>(id: string, body?: object): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/webhook_endpoints/${id}/rotate_secret`, body ?? {});
  }

  test<Body = { event_id: string }>(id: string): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/webhook_endpoints/${id}/test`);
  }

  recover<Body = { events: number }>(id: string, since: unknown): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/webhook_endpoints/${id}/recover`, { since });
  }

  redeliver<Body = { id: string; endpoints: number }>(eventId: string): Promise<Answer<Body>> {
    return this.api.call<Body>('POST', `/v1/webhook_events/${eventId}/redeliver`);
  }

  async deliveries(id: string, query = '?limit=100'): Promise<ListBody<DeliveryBody>> {
    return (await this.api.get<ListBody<DeliveryBody>>(`/v1/webhook_endpoints/${id}/deliveries${query}`)).body;
  }

  /** Waits until at least `count` attempts have ended. @returns all that have ended, oldest first */
  ended(id: string, count: number, withinMs?: number): Promise<DeliveryBody[]> {
    const poll = async () => {
      const all = (await this.deliveries(id)).data.filter((delivery) => delivery.duration_ms !== null);
      return all.length >= count && all.toReversed();
    };
    return eventually(`${count} attempts to end`, poll, withinMs);
  }
}

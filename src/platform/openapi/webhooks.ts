import { ApiExtension } from '@nestjs/swagger';
import { type Json, refTo } from '../schema/component.ts';

const WEBHOOK = 'x-webhook';
/** Differs from the tag of the webhook routes, because generators make one class per tag. */
export const WEBHOOK_EVENTS = 'Webhook events';

/** Marks a class as the body of the event `type`, which the service sends to webhook endpoints. */
export const WebhookBody = (type: string, summary: string): ClassDecorator =>
  ApiExtension(WEBHOOK, { type, summary }) as ClassDecorator;

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** The headers of Standard Webhooks. */
const PARAMETERS = [
  header('webhook-id', 'The id of the event, the same at every attempt: ignore those that you have handled.'),
  header('webhook-timestamp', 'When the attempt was signed, in unix seconds.'),
  header('webhook-signature', 'One signature or several with a space between them: `v1,` and base64.'),
];

/** Describes the events as the requests that receivers get. */
export function addWebhooks(document: Json): void {
  const webhooks: Json = {};
  for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
    if (!schema[WEBHOOK]) continue;
    const { type, summary } = schema[WEBHOOK];
    delete schema[WEBHOOK];
    webhooks[type] = {
      post: {
        operationId: `receive${name}`,
        summary,
        tags: [WEBHOOK_EVENTS],
        parameters: PARAMETERS,
        requestBody: { required: true, content: { 'application/json': { schema: refTo(name) } } },
        responses: {
          '2XX': {
            description: 'The event is received. After any other answer, or none within 15 s, it is sent again.',
          },
          '410': { description: 'The receiver is gone: the endpoint is disabled.' },
        },
        security: [],
      },
    };
  }
  document.webhooks = webhooks;
}

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const BOUNDARY = 'slow-form';
/** After this time the service has read the head of the request and accepted its key. */
const HEAD_MS = 500;
/** So much follows, in such steps, until the end: the service cuts off a form that trickles. */
const STEP_BYTES = 16_000;
const STEP_MS = 250;

/** An upload whose last bytes are sent later. */
export class SlowForm {
  private readonly request: ClientRequest;
  private readonly response: Promise<IncomingMessage>;
  private steps: NodeJS.Timeout | undefined;

  constructor(
    url: string,
    key: string,
    private readonly filename: string,
  ) {
    this.request = request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    });
    this.response = once(this.request, 'response').then(([response]) => response as IncomingMessage);
    this.response.catch(() => undefined); // `end` reports it
    this.request.on('error', () => clearInterval(this.steps));
  }

  async begin(bytes: Uint8Array): Promise<void> {
    const head = `content-disposition: form-data; name="file"; filename="${this.filename}"\r\ncontent-type: image/png`;
    this.request.write(`--${BOUNDARY}\r\n${head}\r\n\r\n`);
    this.request.write(bytes);
    this.steps = setInterval(() => this.request.write(Buffer.alloc(STEP_BYTES)), STEP_MS).unref();
    await sleep(HEAD_MS);
  }

  /** @returns the status of the response */
  async end(): Promise<number> {
    clearInterval(this.steps);
    this.request.end(`\r\n--${BOUNDARY}--\r\n`);
    const response = await this.response;
    response.resume();
    return response.statusCode!;
  }
}

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const BOUNDARY = 'slow-form';
/** After this time the service has read the head of the request and accepted its key. */
const HEAD_MS = 500;

/** An upload whose last bytes are sent later. */
export class SlowForm {
  private readonly request: ClientRequest;

  constructor(
    url: string,
    key: string,
    private readonly filename: string,
  ) {
    this.request = request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    });
  }

  async begin(bytes: Uint8Array): Promise<void> {
    const head = `content-disposition: form-data; name="file"; filename="${this.filename}"\r\ncontent-type: image/png`;
    this.request.write(`--${BOUNDARY}\r\n${head}\r\n\r\n`);
    this.request.write(bytes);
    await sleep(HEAD_MS);
  }

  /** @returns the status of the response */
  async end(): Promise<number> {
    this.request.end(`\r\n--${BOUNDARY}--\r\n`);
    const [response] = (await once(this.request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode!;
  }
}

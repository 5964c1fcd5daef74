import type { CallOptions, Transport } from '../http/transport.ts';
import { type Pages, pages } from '../pages.ts';
import type { CreateShareInput, DeletedShare, Share } from '../types.gen.ts';

/** Shares: web pages on which people without a key see files. */
export class Shares {
  constructor(private readonly transport: Transport) {}

  create(share: CreateShareInput, options: CallOptions = {}): Promise<Share> {
    return this.transport.json('POST', '/v1/shares', { ...options, body: share });
  }

  /** The shares that have not ended, newest first. */
  list(query: { limit?: number } = {}, options: CallOptions = {}): Pages<Share> {
    return pages(this.transport, '/v1/shares', query, options);
  }

  /** Ends the share: nobody can open it any more. */
  delete(id: string, options: CallOptions = {}): Promise<DeletedShare> {
    return this.transport.json('DELETE', `/v1/shares/${encodeURIComponent(id)}`, options);
  }
}

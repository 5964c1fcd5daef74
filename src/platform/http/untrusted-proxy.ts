import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

/**
 * Warns once that a proxy seems to be in front, whose clients all have its address. Anyone can send the header, so it
 * is not believed.
 */
export function warnOfUntrustedProxy(fastify: FastifyInstance, trustedProxies: readonly string[]): void {
  if (trustedProxies.length > 0) return;
  const logger = new Logger('requests');
  let isSaid = false;
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && request.headers['x-forwarded-for'] !== undefined) {
      isSaid = true;
      const msg =
        'Requests come with X-Forwarded-For, and TRUSTED_PROXIES is not set: failed sign-ins, requests without a key and audit ' +
        'events count all clients of a proxy as one. Set it to the address range of the proxy.';
      logger.warn({ event: 'proxy.untrusted', address: request.ip, msg });
    }
    done();
  });
}

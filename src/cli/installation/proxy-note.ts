import type { Config } from '../../platform/config/config.ts';

/** The service itself speaks no TLS, so an https address must be the address of a proxy. */
export function proxyNote({ publicUrl, trustedProxies }: Pick<Config, 'publicUrl' | 'trustedProxies'>): string {
  if (trustedProxies.length > 0) return `X-Forwarded-For of ${trustedProxies.join(', ')} names the client`;
  if (!publicUrl.startsWith('https:')) return 'none is trusted';
  return (
    'WARNING PUBLIC_URL leads to a proxy, and TRUSTED_PROXIES is not set: failed sign-ins, requests without a key and audit events ' +
    'count all clients as one. Set it to the address range of the proxy'
  );
}

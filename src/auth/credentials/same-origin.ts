/**
 * Whether a page of this origin is the service's own: same host and port as the request, or the configured public
 * address. `SameSite` is not enough: browsers send a strict cookie to every port of the same host.
 */
export function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  const from = originOf(origin);
  if (from === null) return false;
  if (from === originOf(publicUrl)) return true;
  // A proxy may have ended TLS, so the scheme of the request is unknown. The scheme of the page decides which port is
  // the default.
  return host !== undefined && from === originOf(`${from.split(':', 1)[0]}://${host}`);
}

/** The origin in the form of an `Origin` header, without a default port. null for any scheme but http and https. */
function originOf(url: string): string | null {
  if (!/^https?:\/\//i.test(url)) return null;
  return URL.canParse(url) ? new URL(url).origin : null;
}

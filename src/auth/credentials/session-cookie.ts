/**
 * Browsers keep a cookie with this prefix only over https, for this host and for every path, so no other host can set
 * it.
 */
const SECURE_PREFIX = '__Host-';
const NAME = 'darkroom_session';

/**
 * The name depends on the page's scheme. Without https, browsers refuse `Secure` and the prefix, and a service in a
 * home network often has no https.
 */
const nameFor = (isSecure: boolean): string => (isSecure ? SECURE_PREFIX + NAME : NAME);

/**
 * Reads the token of a session from one of two cookies: one is for pages over https, the other for pages over http.
 * @param isSecure whether the page came over https; undefined when the request does not say
 */
export function readSessionCookie(
  cookie: string,
  isSecure: boolean | undefined,
): { token: string; isSecure: boolean } | undefined {
  const cookies = new Map(cookie.split(';').map((pair) => splitOnce(pair.trim())));
  for (const candidate of isSecure === undefined ? [true, false] : [isSecure]) {
    const token = cookies.get(nameFor(candidate));
    if (token !== undefined) return { token, isSecure: candidate };
  }
  return undefined;
}

/** @param maxAgeS null: until the browser is closed; 0: removes the cookie */
export function sessionCookie(token: string, isSecure: boolean, maxAgeS: number | null): string {
  const attributes = [
    `${nameFor(isSecure)}=${token}`,
    'HttpOnly',
    'SameSite=Strict',
    'Path=/',
    ...(isSecure ? ['Secure'] : []),
    ...(maxAgeS === null ? [] : [`Max-Age=${maxAgeS}`]),
  ];
  return attributes.join('; ');
}

function splitOnce(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? ['', pair] : [pair.slice(0, at), pair.slice(at + 1)];
}

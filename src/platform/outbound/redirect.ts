/**
 * The Location of a redirect, as sent: relative or absolute, and not yet checked.
 * @returns null for any other answer
 */
export function redirectOf(status: number, headers: Record<string, string | string[] | undefined>): string | null {
  const { location } = headers;
  return [301, 302, 303, 307, 308].includes(status) && typeof location === 'string' ? location : null;
}

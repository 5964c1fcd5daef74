/**
 * The id of the file of this service that a value names by its id or by a link; null: none. The link may have any host,
 * because PUBLIC_URL can change.
 */
export const ownFileIn = (value: unknown): string | null =>
  typeof value === 'string'
    ? (/^(?:https?:\/\/[^/]+\/v1\/files\/)?(file_[0-9a-z_]+)(?:\/content(?:\?.*)?)?$/.exec(value)?.[1] ?? null)
    : null;

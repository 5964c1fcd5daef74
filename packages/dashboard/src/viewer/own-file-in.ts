/** The file of ours that a value of an input names, by its id or by a link. The link may name any host: PUBLIC_URL changes. */
export const ownFileIn = (value: unknown): string | null =>
  typeof value === 'string'
    ? (/^(?:https?:\/\/[^/]+\/v1\/files\/)?(file_[0-9a-z_]+)(?:\/content(?:\?.*)?)?$/.exec(value)?.[1] ?? null)
    : null;

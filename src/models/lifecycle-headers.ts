import type { Model } from './definition/model.ts';

/**
 * Announces a model's deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the replacement as `Link`.
 * @returns no header for an active model
 */
export function lifecycleHeaders({ lifecycle }: Pick<Model, 'lifecycle'>): Record<string, string> {
  if (lifecycle.status === 'active') return {};
  const headers: Record<string, string> = {};
  if (lifecycle.deprecated_at !== null) headers.deprecation = `@${lifecycle.deprecated_at}`;
  if (lifecycle.sunset_at !== null) headers.sunset = new Date(lifecycle.sunset_at * 1000).toUTCString();
  if (lifecycle.replacement !== null) headers.link = `</v1/models/${lifecycle.replacement}>; rel="successor-version"`;
  return headers;
}

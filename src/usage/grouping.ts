import { ApiError } from '../errors/api-error.ts';
import { hasAtMost } from '../platform/schema/code-points.ts';
import type { UsageTerms } from '../tasks/record/usage-terms.ts';
import type { Group } from './sql/read-usage.ts';

/** The fields in the documented order. */
const FIELDS = ['model', 'kind', 'provider', 'resolution', 'source', 'batch_id', 'error_code', 'api_key_id'] as const;
const METADATA = 'metadata.';
const MAX_KEY_LENGTH = 64;

export interface Grouping {
  /** The columns to group by. Their order is fixed, so that the same columns make the same statement. */
  groups: Group[];
  metadataKey: string | null;
  /** The name of the metadata field in a result: `metadata.<key>`. */
  metadataField: string | null;
}

/**
 * Matches a name and the comma after it. A name in double quotes may contain commas, and a quote that is doubled, as in
 * CSV. Any other name is all text up to the next comma.
 */
const NAME = /\s*"((?:[^"]|"")*)"\s*,|([^,]*),/gy;

/**
 * Reads `group_by`. Leaves out `provider` if the operator does not reveal providers.
 * @param text names separated by commas; one that contains a comma is in double quotes
 * @throws ApiError invalid_value
 */
export function groupingOf(
  text: string | undefined,
  { revealProviders }: Pick<UsageTerms, 'revealProviders'>,
): Grouping {
  const names = [...new Set(text === undefined ? [] : namesIn(text))];
  const metadata = names.filter((name) => name.startsWith(METADATA));
  const wrong = names.find((name) => !isField(name) && !isMetadata(name));
  if (wrong !== undefined) {
    const known = `${FIELDS.join(', ')} and metadata.<key>`;
    throw refused(`group_by can be any of ${known}, not "${wrong.slice(0, MAX_KEY_LENGTH).toWellFormed()}".`);
  }
  if (metadata.length > 1) throw refused('group_by can name one metadata key.');
  const fields = FIELDS.filter((name) => names.includes(name) && (name !== 'provider' || revealProviders));
  const metadataField = metadata[0] ?? null;
  return {
    groups: metadataField === null ? [...fields] : [...fields, 'metadata_value'],
    metadataKey: metadataField?.slice(METADATA.length) ?? null,
    metadataField,
  };
}

/** The text from which `groupingOf` reads exactly these names. */
export const textOfNames = (names: readonly string[]): string =>
  names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',');

const namesIn = (text: string): string[] =>
  Array.from(`${text},`.matchAll(NAME), ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim());

const isField = (name: string): boolean => (FIELDS as readonly string[]).includes(name);
const isMetadata = (name: string): boolean =>
  name.startsWith(METADATA) && name.length > METADATA.length && hasAtMost(name.slice(METADATA.length), MAX_KEY_LENGTH);

const refused = (message: string): ApiError => new ApiError('invalid_value', { param: 'group_by', message });

import { ApiError } from '../../errors/api-error.ts';

/**
 * The key in an `Authorization` header, `Bearer <API_KEY>`.
 * @throws ApiError missing_api_key
 */
export function bearerTokenOf(header: string | undefined): string {
  const token = header === undefined ? null : /^Bearer +([^ ].*)$/i.exec(header);
  if (!token) throw new ApiError('missing_api_key');
  return token[1]!;
}

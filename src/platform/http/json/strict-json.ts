import { isAscii, isUtf8 } from 'node:buffer';
import { ApiError } from '../../../errors/api-error.ts';
import { JsonScan } from './json-scan.ts';
import { describeSyntaxFault } from './json-syntax.ts';

/**
 * Parses a request body. Rejects what JSON.parse accepts: duplicate keys (the last one would win silently), nesting
 * deeper than 32 levels, NUL and lone surrogates (PostgreSQL can store neither), and bytes that are not UTF-8.
 * `__proto__` becomes a plain own property, so that validation rejects it like any unknown property.
 * @throws ApiError invalid_json, duplicate_key, json_too_deep, invalid_unicode
 */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_json', {
      message: `The request body is not valid JSON: ${describeSyntaxFault(text)}.`,
      cause,
    });
  }
  new JsonScan(text).run();
  return value;
}

function decode(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1'); // one byte per character: half the memory, and faster to search
  if (!isUtf8(bytes)) throw new ApiError('invalid_json', { message: 'The request body is not valid UTF-8.' });
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new ApiError('invalid_json', {
      message: 'The request body starts with a byte order mark; send plain UTF-8.',
    });
  }
  return bytes.toString('utf8');
}

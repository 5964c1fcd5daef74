import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { parseStrictJson } from '../../platform/http/strict-json.ts';

/** An item as the client sent it: its body, or the error that makes it invalid. */
export interface GivenItem {
  /** The line in the file, from 1; null without a file. */
  line: number | null;
  customId: string | null;
  body: Record<string, unknown> | ApiError;
}

const CUSTOM_ID = /^[\x20-\x7e]{1,64}$/;
/** How many bytes of a file are parsed before other requests of this process get their turn. */
const PARSED_AT_ONCE = 256 * 1024;
const NEWLINE = 0x0a;
/** The byte order mark with which editors and shells of Windows begin a file. */
const MARK = Buffer.from('\ufeff');
const [SPACE, TAB, RETURN] = [0x20, 0x09, 0x0d];

/**
 * Reads `requests`: `[{custom_id?, body}]`.
 * @throws ApiError invalid_type, invalid_value, too_many_items for the list as a whole
 */
export function readRequests(requests: unknown, maxItems: number): GivenItem[] {
  if (!Array.isArray(requests)) {
    throw new ApiError('invalid_type', { param: 'requests', message: 'requests must be an array.' });
  }
  assertCount(requests.length, 'requests', maxItems);
  const reader = new ItemReader(['custom_id', 'body'], () => undefined);
  return requests.map((request: unknown) => reader.read(request, null));
}

/**
 * Reads a file of lines `{custom_id, method, url, body}`. Blank lines are skipped.
 * @throws ApiError invalid_value, too_many_items for the file as a whole
 */
export async function readLines(bytes: Buffer, endpoint: string, maxItems: number): Promise<GivenItem[]> {
  const reader = new ItemReader(['custom_id', 'method', 'url', 'body'], (item) => assertLine(item, endpoint));
  const items: GivenItem[] = [];
  let parsed = 0;
  const first = bytes.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
  for (let start = first, line = 1; start < bytes.length; line += 1) {
    const newline = bytes.indexOf(NEWLINE, start);
    const text = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    start += text.length + 1;
    if (!isBlank(text)) items.push(readLine(text, line, reader));
    if (items.length > maxItems) assertCount(items.length, 'input_file_id', maxItems);
    parsed += text.length + 1;
    if (parsed > PARSED_AT_ONCE) {
      parsed = 0;
      await endOfTurn();
    }
  }
  assertCount(items.length, 'input_file_id', maxItems);
  return items;
}

function assertCount(items: number, param: string, maxItems: number): void {
  if (items === 0) throw new ApiError('invalid_value', { param, message: `${param} must have at least 1 item.` });
  if (items <= maxItems) return;
  throw new ApiError('too_many_items', { param, message: `${param} must have at most ${maxItems} items.` });
}

/** A plain loop: in a file of 20 MB, a callback for each byte would take a second. */
function isBlank(text: Buffer): boolean {
  for (const byte of text) if (byte !== SPACE && byte !== TAB && byte !== RETURN) return false;
  return true;
}

function readLine(text: Buffer, line: number, reader: ItemReader): GivenItem {
  try {
    return reader.read(parseStrictJson(text), line);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = error.message.replace('The request body', 'The line');
    return { line, customId: null, body: new ApiError(error.code, { message, status: 400, cause: error }) };
  }
}

function assertLine(item: Record<string, unknown>, endpoint: string): void {
  for (const [param, wanted] of Object.entries({ method: 'POST', url: endpoint })) {
    if (item[param] === undefined) throw missing(param);
    if (item[param] === wanted) continue;
    throw new ApiError('invalid_value', { param, message: `${param} must be ${wanted}.` });
  }
  if (item.custom_id === undefined) throw missing('custom_id');
}

const missing = (param: string): ApiError =>
  new ApiError('missing_required_parameter', { param, message: `${param} is required.` });

/** Reads the items of one batch, in which a custom_id may occur only once. */
class ItemReader {
  private readonly customIds = new Set<string>();

  /**
   * @param fields the names of fields that an item may have
   * @param assertForm throws if a field other than `body` is missing or wrong
   */
  constructor(
    private readonly fields: readonly string[],
    private readonly assertForm: (item: Record<string, unknown>) => void,
  ) {}

  read(given: unknown, line: number | null): GivenItem {
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
    if (!isObject) {
      const body = new ApiError('invalid_type', { message: 'An item must be an object with a body.' });
      return { line, customId: null, body };
    }
    const item = given as Record<string, unknown>;
    const customId = typeof item.custom_id === 'string' && CUSTOM_ID.test(item.custom_id) ? item.custom_id : null;
    try {
      this.assertForm(item);
      return { line, customId, body: this.bodyOf(item) };
    } catch (error) {
      if (error instanceof ApiError) return { line, customId, body: error };
      throw error;
    }
  }

  private bodyOf(item: Record<string, unknown>): Record<string, unknown> {
    const unknown = Object.keys(item).find((name) => !this.fields.includes(name));
    if (unknown !== undefined) {
      const param = unknown.length > 64 ? `${unknown.slice(0, 64).toWellFormed()}…` : unknown;
      const message = `There is no parameter ${param}. Allowed: ${this.fields.join(', ')}.`;
      throw new ApiError('unknown_parameter', { param, message });
    }
    this.assertCustomId(item.custom_id);
    const { body } = item;
    if (body === undefined) throw missing('body');
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ApiError('invalid_type', { param: 'body', message: 'body must be an object.' });
    }
    return body as Record<string, unknown>;
  }

  private assertCustomId(given: unknown): void {
    if (given === undefined) return;
    const param = 'custom_id';
    if (typeof given !== 'string') throw new ApiError('invalid_type', { param, message: `${param} must be a string.` });
    if (!CUSTOM_ID.test(given)) {
      throw new ApiError('invalid_value', { param, message: `${param} must be 1 to 64 printable ASCII characters.` });
    }
    if (this.customIds.has(given)) {
      throw new ApiError('invalid_value', { param, message: `An earlier item has this ${param}.` });
    }
    this.customIds.add(given);
  }
}

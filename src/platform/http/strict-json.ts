import { isAscii, isUtf8 } from 'node:buffer';
import { type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { paramPath } from '../schema/param-path.ts';
import { excessIn, MAX_NAMES, MAX_VALUES } from '../schema/plain-json.ts';
import { hasBody } from './request.ts';

/**
 * Any charset but UTF-8, quoted or not. The quotes are inside the lookahead, because outside of it backtracking could
 * skip them.
 */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*(?:"utf-?8"|utf-?8\b))/i;

/**
 * Accepts only JSON bodies, except on routes that accept files. An empty body counts as no body, whatever its content
 * type. Many clients send a content type with a POST that has no body, such as a cancel.
 */
export function acceptJsonBodiesOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    let value: unknown;
    try {
      if (OTHER_CHARSET.test(request.headers['content-type']!)) throw unsupported('JSON bodies are UTF-8.');
      if (body.length > 0) value = parseStrictJson(body);
    } catch (error) {
      return done(error as Error);
    }
    return done(null, value);
  });
  fastify.addContentTypeParser('*', (request, _payload, done) => {
    if (hasBody(request.headers)) done(new ApiError('unsupported_media_type'));
    else done(null, undefined);
  });
}

function unsupported(message: string): ApiError {
  return new ApiError('unsupported_media_type', { message });
}

/**
 * Returns the body as an object.
 * @throws ApiError invalid_json without a body, invalid_body when it is not an object
 */
export function requireJsonObject(body: unknown): Record<string, unknown> {
  if (body === undefined)
    throw new ApiError('invalid_json', { message: 'The request body is empty; send a JSON object.' });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid_body');
  return body as Record<string, unknown>;
}

/**
 * Parses a request body. Also rejects what JSON.parse would accept: duplicate keys, too many keys or values, nesting
 * deeper than 32 levels, NUL, lone surrogates, and bytes that are not UTF-8. Of duplicate keys the last one would win
 * silently. PostgreSQL can store neither NUL nor lone surrogates. `__proto__` becomes a plain own property, so that
 * validation rejects it like any unknown property.
 * @throws ApiError invalid_json, duplicate_key, too_many_items, json_too_deep, invalid_unicode
 */
export function parseStrictJson(bytes: Buffer): unknown {
  const excess = excessIn(bytes); // before JSON.parse, which would take seconds and most of the memory
  if (excess === 'levels') throw new ApiError('json_too_deep');
  if (excess === 'open levels') throw new ApiError('invalid_json', { message: 'The request body ends too early.' });
  const most = { values: MAX_VALUES, names: MAX_NAMES };
  if (excess)
    throw new ApiError('invalid_json', { message: `The request body has more than ${most[excess]} ${excess}.` });
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

/** Nested objects and lists; docs/api/errors.md promises this bound. */
const MAX_DEPTH = 32;
/** The most keys of one object. To check, copy or fingerprint an object takes time for each key. */
const MAX_KEYS = 5_000;
/**
 * Up to this number of keys a linear search is faster than a Set, because it allocates nothing. Few objects have more
 * keys.
 */
const LINEAR_KEYS = 12;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * One open object or list: its keys so far and the current position in it. There is one instance per depth, which is
 * reused.
 */
class Level {
  isObject = false;
  key = '';
  index = 0;
  private readonly keys: string[] = [];
  private keySet: Set<string> | null = null;

  open(isObject: boolean): void {
    this.isObject = isObject;
    this.index = 0;
    this.keys.length = 0;
    this.keySet = null;
  }

  get hasTooManyKeys(): boolean {
    return this.keySet !== null && this.keySet.size > MAX_KEYS;
  }

  /** @returns false for a duplicate key */
  add(key: string): boolean {
    this.key = key;
    if (this.keySet !== null) {
      const before = this.keySet.size;
      return this.keySet.add(key).size > before;
    }
    if (this.keys.includes(key)) return false;
    this.keys.push(key);
    if (this.keys.length > LINEAR_KEYS) this.keySet = new Set(this.keys);
    return true;
  }
}

/**
 * Scans a text once. JSON.parse has accepted the text, so the syntax is not checked. The scan jumps from quote to quote
 * with indexOf and reads only the punctuation between strings. It uses no recursion and no regular expression.
 */
class JsonScan {
  private readonly levels: Level[] = [];
  private depth = 0;
  /** Position of the next backslash at or after the current position; Infinity if there is none. */
  private nextBackslash: number;
  /** Only a \u escape can produce a NUL or a lone surrogate, because the bytes were valid UTF-8. */
  private readonly hasUnicodeEscapes: boolean;

  constructor(private readonly text: string) {
    this.nextBackslash = this.findBackslash(0);
    this.hasUnicodeEscapes = this.nextBackslash !== Infinity && text.includes('\\u', this.nextBackslash);
  }

  /** @throws ApiError duplicate_key, too_many_items, json_too_deep, invalid_unicode */
  run(): void {
    const { text } = this;
    let level: Level | null = null;
    let expectsKey = false;

    for (let at = 0; at < text.length; at++) {
      const mark = text.charCodeAt(at);
      if (mark === QUOTE) {
        const start = at;
        const isEscaped = this.nextBackslash < (at = text.indexOf('"', start + 1));
        if (isEscaped) at = this.endOfEscaped(at);
        if (expectsKey) this.checkKey(level!, text.slice(start, at + 1), isEscaped);
        else if (isEscaped && this.hasUnicodeEscapes) this.checkUnicode(JSON.parse(text.slice(start, at + 1)));
        expectsKey = false;
      } else if (mark === COMMA) {
        level!.index++;
        expectsKey = level!.isObject;
      } else if (mark === OPEN_OBJECT || mark === OPEN_LIST) {
        expectsKey = mark === OPEN_OBJECT;
        level = this.enter(expectsKey);
      } else if (mark === CLOSE_OBJECT || mark === CLOSE_LIST) {
        expectsKey = false;
        this.depth--;
        level = this.depth > 0 ? this.levels[this.depth - 1] : null;
      }
    }
  }

  private enter(isObject: boolean): Level {
    if (this.depth === MAX_DEPTH) throw new ApiError('json_too_deep', { param: this.path() });
    const level = (this.levels[this.depth++] ??= new Level());
    level.open(isObject);
    return level;
  }

  /**
   * Finds the closing quote of a string. `quote` is the position of the first candidate: a backslash before it may
   * escape it.
   */
  private endOfEscaped(quote: number): number {
    const { text } = this;
    while (this.nextBackslash < quote) {
      const after = this.nextBackslash + 2;
      if (quote < after) quote = text.indexOf('"', after);
      this.nextBackslash = text.charCodeAt(after) === BACKSLASH ? after : this.findBackslash(after);
    }
    return quote;
  }

  private findBackslash(from: number): number {
    const found = this.text.indexOf('\\', from);
    return found === -1 ? Infinity : found;
  }

  /** Compares keys after unescaping: "a" and "\u0061" are duplicates. */
  private checkKey(level: Level, quoted: string, isEscaped: boolean): void {
    const key: string = isEscaped ? JSON.parse(quoted) : quoted.slice(1, -1);
    const isNew = level.add(key);
    if (isEscaped && this.hasUnicodeEscapes) this.checkUnicode(key);
    if (!isNew) throw new ApiError('duplicate_key', { param: this.path() });
    if (level.hasTooManyKeys) throw this.tooManyKeys();
  }

  private checkUnicode(text: string): void {
    if (!text.isWellFormed() || text.includes('\0')) throw new ApiError('invalid_unicode', { param: this.path() });
  }

  private tooManyKeys(): ApiError {
    this.depth -= 1; // so that the path names the object and not its key
    const param = this.path();
    return new ApiError('too_many_items', {
      message: `An object has at most ${MAX_KEYS} keys.`,
      ...(param && { param }),
    });
  }

  /** The current position, as `param` of an error. */
  private path(): string {
    return paramPath(this.levels.slice(0, this.depth).map((level) => (level.isObject ? level.key : level.index)));
  }
}

/**
 * Maximum depth to which a fault is searched. `visit` recurses, unlike JSON.parse, and some 5,000 levels would overflow
 * the stack. A valid body has at most 32 levels.
 */
const MAX_VISITED_DEPTH = 500;

/**
 * Maximum length of a text in which the fault is searched, in characters. The scanner takes 32 bytes of memory for each
 * space: 30 MB of spaces would take a gigabyte.
 */
const MAX_VISITED = 1_048_576;

/** Faults inside a string. For them the parser gives the position of the opening quote. */
const STRING_FAULTS: Record<string, string | undefined> = {
  InvalidCharacter: 'holds a control character that is not escaped',
  InvalidEscapeCharacter: 'holds an invalid escape sequence',
  InvalidUnicode: 'holds an invalid \\u escape',
  UnexpectedEndOfString: 'is not closed on its line; write a line break as \\n',
};

class FirstFault extends Error {}

/**
 * Describes the first fault of a text that JSON.parse refused. JSON.parse cannot do this: only some of its messages
 * have the position, and others repeat a part of the body.
 */
function describeSyntaxFault(text: string): string {
  if (text.trim() === '') return 'it is empty';
  if (text.length > MAX_VISITED) return 'it is too long to say where';
  let depth = 0;
  const open = (): void => {
    if (++depth > MAX_VISITED_DEPTH) throw new FirstFault('it is nested too deep');
  };
  const close = (): void => void depth--;
  const visitor: JSONVisitor = {
    onObjectBegin: open,
    onArrayBegin: open,
    onObjectEnd: close,
    onArrayEnd: close,
    onError(code, position, length) {
      const name = printParseErrorCode(code);
      const end = name.startsWith('UnexpectedEnd') ? position + length : position;
      throw new FirstFault(end >= text.length ? 'it ends too early' : inWords(name, position));
    },
  };
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (error instanceof FirstFault) return error.message;
    throw error;
  }
  // Reached only if the parser accepts what JSON.parse refused. Of 2 million random texts none reached it.
  return 'it does not follow RFC 8259';
}

function inWords(errorName: string, position: number): string {
  const fault = STRING_FAULTS[errorName];
  return fault === undefined
    ? `unexpected character at position ${position}`
    : `the string at position ${position} ${fault}`;
}

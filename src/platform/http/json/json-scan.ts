import { ApiError } from '../../../errors/api-error.ts';
import { paramPath } from '../../schema/param-path.ts';

/** Nested objects and lists; docs/api/errors.md promises this bound. */
const MAX_DEPTH = 32;
/** Up to this number of keys a linear search beats a Set: it allocates nothing, and few bodies have more keys. */
const LINEAR_KEYS = 12;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** One open object or list: its keys so far and the current position in it. Reused: one instance per depth. */
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
 * One pass over a text that JSON.parse has accepted, so it does not check the syntax. It jumps from quote to quote with
 * indexOf and reads only the punctuation between strings. No recursion, no regular expression.
 */
export class JsonScan {
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

  /** @throws ApiError duplicate_key, json_too_deep, invalid_unicode */
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

  /** Finds the closing quote of a string with a backslash before the quote at `quote`. */
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
  }

  private checkUnicode(text: string): void {
    if (!text.isWellFormed() || text.includes('\0')) throw new ApiError('invalid_unicode', { param: this.path() });
  }

  /** The current position, as `param` of an error. */
  private path(): string {
    return paramPath(this.levels.slice(0, this.depth).map((level) => (level.isObject ? level.key : level.index)));
  }
}

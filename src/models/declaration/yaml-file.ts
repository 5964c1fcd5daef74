import {
  boolCoreTag,
  type Event,
  EVENT_ID,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml';
import { type Fault, type Path, pathText } from './fault.ts';

/** The deepest nesting of a declaration, because people must be able to read it. */
const MAX_DEPTH = 32;
/** The most names and values of a declaration. Some checks compare all values of a list with each other. */
const MAX_PARTS = 10_000;
/** The most faults in `faults`. More would not help, because the operator corrects the first ones first. */
const MAX_FAULTS = 50;

/** The types that text without quotes may have, besides string. */
const TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

/** An event that begins a value. */
type Start = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>;

interface Place {
  /** Offsets in characters: `key` of the name of the field, `value` of its value. */
  key: number;
  value: number;
  /** The text of the value in the file: `1.10` for the number 1.1. Undefined for a list or map. */
  source: string | undefined;
}

/**
 * The values of a YAML file, and the position of each value in the text. The file must mean what a reviewer reads, so
 * anchors, aliases, merge keys, tags and duplicate keys are faults.
 */
export class YamlFile {
  readonly faults: Fault[] = [];
  readonly value: unknown;
  private text = '';
  private events: Event[] = [];
  /** The index of the next event. */
  private next = 0;
  private readonly places = new Map<string, Place>();

  /**
   * @param name the name of the file, which each fault shows
   * @param bytes null if the file could not be read
   * @param maxParts the most names and values
   */
  constructor(
    readonly name: string,
    bytes: Buffer | null,
    private readonly maxParts = MAX_PARTS,
  ) {
    this.value = bytes === null ? undefined : this.read(bytes);
  }

  /** A file that could not be read. `message` becomes its only fault. */
  static broken(name: string, message: string): YamlFile {
    const file = new YamlFile(name, null);
    file.fault([], message);
    return file;
  }

  /** @param at which part of the field is wrong: its name or its value */
  fault(path: Path, message: string, at: 'key' | 'value' = 'value'): void {
    this.faultAt(this.placeOf(path)[at], path, message);
  }

  /** A fault that involves other files. It is not added to `faults`. */
  faultFor(path: Path, message: string): Fault {
    return this.faultOf(this.placeOf(path).value, path, message);
  }

  /** The text of a value, unless it is a list or map: `1.10` for the number 1.1. */
  sourceOf(path: Path): string | undefined {
    return this.places.get(keyOf(path))?.source;
  }

  private faultAt(offset: number, path: Path, message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(this.faultOf(offset, path, message));
  }

  private faultOf(offset: number, path: Path, message: string): Fault {
    const before = this.text.slice(0, offset).split('\n');
    const [line, column] = [before.length, before.at(-1)!.length + 1];
    return { file: this.name, line, column, path: pathText(path), message };
  }

  /** The position of the value, or of its nearest parent that exists. */
  private placeOf(path: Path): Place {
    for (let length = path.length; length >= 0; length--) {
      const place = this.places.get(keyOf(path.slice(0, length)));
      if (place) return place;
    }
    return { key: 0, value: 0, source: undefined };
  }

  private read(bytes: Buffer): unknown {
    try {
      this.text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      this.faultAt(0, [], 'is not UTF-8');
      return undefined;
    }
    const nul = this.text.indexOf('\0');
    if (nul >= 0) {
      this.faultAt(nul, [], 'holds NUL');
      return undefined;
    }
    try {
      this.events = parseEvents(this.text, {});
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      this.faultAt(error.mark?.position ?? 0, [], error.reason);
      return undefined;
    }
    const tooMany = this.events.filter(({ type }) => type !== EVENT_ID.POP)[this.maxParts];
    if (tooMany) {
      this.faultAt(startOf(tooMany as Start) ?? 0, [], `has more than ${this.maxParts} names and values`);
      return undefined;
    }
    const value = this.readDocument();
    this.events = [];
    return value;
  }

  private readDocument(): unknown {
    const [document] = this.events;
    if (document?.type !== EVENT_ID.DOCUMENT) return null;
    if (document.directives.length > 0) this.faultAt(0, [], 'directives are not allowed');
    const second = this.events.findIndex(({ type }, at) => at > 0 && type === EVENT_ID.DOCUMENT);
    if (second > 0) {
      this.faultAt(startOf(this.events[second + 1] as Start) ?? 0, [], 'more than one document');
      return undefined;
    }
    this.next = 1;
    return this.valueOf([], 0);
  }

  /** @param key the offset of the value's name. A value without text is placed there */
  private valueOf(path: Path, key: number): unknown {
    const event = this.events[this.next++] as Start;
    const value = startOf(event) ?? key;
    const source = event.type === EVENT_ID.SCALAR ? getScalarValue(this.text, event) : undefined;
    this.places.set(keyOf(path), { key, value, source });
    const fault = path.length > MAX_DEPTH ? `is nested more than ${MAX_DEPTH} deep` : notPlain(event);
    if (fault) {
      this.faultAt(value, path, fault);
      this.skip(event);
      return undefined;
    }
    if (event.type === EVENT_ID.SEQUENCE) return this.listOf(path, value);
    if (event.type === EVENT_ID.MAPPING) return this.mapOf(path, value);
    const plain = (event as ScalarEvent).style === SCALAR_STYLE.PLAIN ? plainValue(source!) : source;
    if (typeof plain === 'number' && !Number.isFinite(plain)) this.faultAt(value, path, 'must be a finite number');
    return plain;
  }

  private listOf(path: Path, start: number): unknown[] {
    const items: unknown[] = [];
    while (!this.ends()) items.push(this.valueOf([...path, items.length], start));
    return items;
  }

  private mapOf(path: Path, start: number): object {
    const fields = new Map<string, unknown>();
    while (!this.ends()) {
      const key = this.events[this.next++] as Start;
      const at = startOf(key) ?? start;
      if (key.type !== EVENT_ID.SCALAR || notPlain(key)) {
        this.faultAt(at, path, key.type === EVENT_ID.ALIAS ? notPlain(key)! : 'a name must be plain text');
        this.skip(key);
        this.skip(this.events[this.next++]!);
        continue;
      }
      const name = getScalarValue(this.text, key);
      if (name === '<<') this.faultAt(at, path, 'merge keys are not allowed');
      if (fields.has(name)) this.faultAt(at, [...path, name], `duplicate key "${name}"`);
      fields.set(name, this.valueOf([...path, name], at));
    }
    return Object.fromEntries(fields);
  }

  /** Whether the list or map has no more parts. If so, its end event is skipped. */
  private ends(): boolean {
    if (this.events[this.next]!.type !== EVENT_ID.POP) return false;
    this.next += 1;
    return true;
  }

  /** Skips the rest of a value whose first event is already read. */
  private skip(event: Event): void {
    let open = isCollection(event) ? 1 : 0;
    while (open > 0) {
      const each = this.events[this.next++]!;
      open += isCollection(each) ? 1 : each.type === EVENT_ID.POP ? -1 : 0;
    }
  }
}

const isCollection = ({ type }: Event): boolean => type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING;

/** The offset of the first character; null for a value without text. */
function startOf(event: Start): number | null {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type !== EVENT_ID.SCALAR) return event.start;
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return event.valueStart < 0 ? null : event.valueStart - (isQuoted ? 1 : 0);
}

/** The fault of a value that is an alias, or has an anchor or a tag; null for other values. */
function notPlain(event: Start): string | null {
  if (event.type === EVENT_ID.ALIAS) return 'aliases are not allowed';
  if (event.anchorStart >= 0) return 'anchors are not allowed';
  return event.tagStart >= 0 ? 'tags are not allowed' : null;
}

/** The value of a text without quotes: null, a boolean or a number, or else the text itself. */
function plainValue(source: string): unknown {
  for (const tag of TAGS) {
    const value: unknown = tag.resolve(source, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return source;
}

/** The key is JSON, because names may contain any separator. */
const keyOf = (path: Path): string => JSON.stringify(path);

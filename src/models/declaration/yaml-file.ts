import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml';
import { type Fault, type Path, pathText } from './fault.ts';

/** The deepest nesting of a declaration, which people must be able to read. */
const MAX_DEPTH = 32;
/** Reported faults of one file. The operator corrects the first ones first. */
const MAX_FAULTS = 50;

/** `valueOf` and `mapOf` report these errors, because they know the path. */
const TOLD_BELOW: ReadonlySet<string> = new Set(['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED']);
const MESSAGES: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'aliases are not allowed',
  MULTIPLE_DOCS: 'more than one document',
};

interface Place {
  /** Characters from the start of the file: `key` to the name of the field, `value` to its value. */
  key: number;
  value: number;
  /** The text of the value in the file: `1.10` for the number 1.1. */
  source: string | undefined;
}

/**
 * The values of a YAML file, and the position of each value in the text. The file must mean what a reviewer reads, so
 * it has no anchors, aliases, merge keys, tags or duplicate keys.
 */
export class YamlFile {
  readonly faults: Fault[] = [];
  readonly value: unknown;
  private text = '';
  private readonly places = new Map<string, Place>();

  /**
   * @param name the file name in faults
   * @param bytes null if the file could not be read
   */
  constructor(
    readonly name: string,
    bytes: Buffer | null,
  ) {
    this.value = bytes === null ? undefined : this.read(bytes);
  }

  /** A file that cannot be read. */
  static broken(name: string, message: string): YamlFile {
    const file = new YamlFile(name, null);
    file.fault([], message);
    return file;
  }

  /** @param at whether the name of the field is wrong, or its value */
  fault(path: Path, message: string, at: 'key' | 'value' = 'value'): void {
    this.faultAt(this.placeOf(path)[at], path, message);
  }

  /** A fault that involves other files. It is not added to `faults`. */
  faultFor(path: Path, message: string): Fault {
    return this.faultOf(this.placeOf(path).value, path, message);
  }

  /** A number as the file writes it: `1.10`. */
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

  /** The place of the value, or of its nearest parent that exists. */
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
      return this.readText();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.faultAt(0, [], `is nested more than ${MAX_DEPTH} deep`); // the parser overflowed the stack
      return undefined;
    }
  }

  private readText(): unknown {
    const document = parseDocument(this.text, { prettyErrors: false, schema: 'core', logLevel: 'error' });
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      if (TOLD_BELOW.has(code)) continue;
      this.faultAt(pos[0], [], MESSAGES[code] ?? (message.split('\n', 1)[0] as string));
    }
    if (this.faults.length > 0) return undefined;
    if (document.directives?.yaml.explicit) this.faultAt(0, [], 'directives are not allowed');
    return this.valueOf(document.contents, [], 0);
  }

  private valueOf(node: Node | null, path: Path, key: number): unknown {
    const value = node?.range?.[0] ?? key;
    const source = isScalar(node) ? node.source : undefined;
    this.places.set(keyOf(path), { key, value, source });
    const refuse = (message: string): undefined => this.faultAt(value, path, message) as undefined;
    if (path.length > MAX_DEPTH) return refuse(`is nested more than ${MAX_DEPTH} deep`);
    if (isAlias(node)) return refuse('aliases are not allowed');
    if (node && 'anchor' in node && node.anchor) return refuse('anchors are not allowed');
    if (node?.tag) return refuse('tags are not allowed');
    if (isSeq(node)) return node.items.map((item, at) => this.valueOf(item as Node, [...path, at], value));
    if (isMap(node)) return this.mapOf(node.items as Pair<Node, Node | null>[], path, value);
    if (!isScalar(node)) return null;
    if (typeof node.value === 'number' && !Number.isFinite(node.value)) return refuse('must be a finite number');
    return node.value;
  }

  private mapOf(pairs: readonly Pair<Node, Node | null>[], path: Path, start: number): object {
    const seen = new Set<string>();
    const fields = pairs.flatMap(({ key, value }): [string, unknown][] => {
      const at = key?.range?.[0] ?? start;
      const name = isScalar(key) && !key.tag && !key.anchor ? (key.source ?? String(key.value)) : null;
      if (name === null) {
        this.faultAt(at, path, isAlias(key) ? 'aliases are not allowed' : 'a name must be plain text');
        return [];
      }
      if (name === '<<') this.faultAt(at, path, 'merge keys are not allowed');
      if (seen.has(name)) this.faultAt(at, [...path, name], `duplicate key "${name}"`);
      seen.add(name);
      return [[name, this.valueOf(value, [...path, name], at)]];
    });
    return Object.fromEntries(fields);
  }
}

/** JSON, because names may contain any separator. */
const keyOf = (path: Path): string => JSON.stringify(path);

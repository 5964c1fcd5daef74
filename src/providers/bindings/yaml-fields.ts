import { isScalar, type LineCounter, type Node, type Scalar, type YAMLMap } from 'yaml';

export type Fields = Map<string, Node | null>;

/** Reads the fields of a YAML file, and collects every fault with its file and line. */
export class YamlFields {
  readonly faults: string[] = [];

  constructor(
    private readonly file: string,
    private readonly lines: LineCounter,
  ) {}

  /** @param isTold whether an unknown name already has a fault of its own */
  fieldsOf(
    map: YAMLMap,
    known: readonly string[],
    what = 'field',
    isTold: (name: string) => boolean = () => false,
  ): [string, Node | null][] {
    return map.items.map((pair) => {
      const key = pair.key as Scalar;
      const name = String(key.value);
      if (!known.includes(name) && !isTold(name))
        this.fault(this.at(key), `unknown ${what} "${name}"; known are ${known.join(', ')}`);
      return [name, pair.value as Node | null];
    });
  }

  scalar(fields: Fields, name: string, type: 'string' | 'number'): unknown {
    if (!fields.has(name)) return undefined;
    const node = fields.get(name) ?? null;
    if (name === 'credential' && (node === null || (isScalar(node) && node.value === null))) return null;
    if (isScalar(node) && typeof node.value === type && node.value !== '') return node.value;
    this.fault(this.at(node), `${name} must be a ${type}`);
    return undefined;
  }

  oneOf(fields: Fields, name: string, allowed: readonly string[]): string | undefined {
    const value = this.scalar(fields, name, 'string') as string | undefined;
    if (value === undefined || allowed.includes(value)) return value;
    this.fault(this.at(fields.get(name) ?? null), `unknown ${name} "${value}"; known are ${allowed.join(', ')}`);
    return undefined;
  }

  at(node: Node | null): number {
    return node?.range?.[0] ?? 0;
  }

  /** @param offset in characters from the start of the file */
  fault(offset: number, message: string): void {
    this.faults.push(`${this.file}, line ${this.lines.linePos(offset).line || 1}: ${message}`);
  }
}

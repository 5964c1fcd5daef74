import type { Path } from '../../models/declaration/fault.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A map in the PROVIDERS file. Adds every fault of its fields to the file. */
export class YamlFields {
  constructor(
    private readonly file: YamlFile,
    private readonly path: Path,
    private readonly values: Fields,
  ) {}

  /**
   * Adds a fault for every name that is not in `known`.
   * @param isTold whether an unknown name already has a fault of its own
   */
  refuseUnknown(known: readonly string[], what = 'field', isTold: (name: string) => boolean = () => false): void {
    for (const name of Object.keys(this.values)) {
      if (known.includes(name) || isTold(name)) continue;
      this.file.fault(this.pathOf(name), `unknown ${what} "${name}"; known are ${known.join(', ')}`, 'key');
    }
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  /** @returns undefined if the field is absent or wrong; null only for a credential, which may be null */
  scalar(name: string, type: 'string' | 'number'): unknown {
    if (!this.has(name)) return undefined;
    const value = this.values[name];
    if (name === 'credential' && value === null) return null;
    if (typeof value === type && value !== '') return value;
    this.fault(name, `${name} must be a ${type}`);
    return undefined;
  }

  oneOf(name: string, allowed: readonly string[]): string | undefined {
    const value = this.scalar(name, 'string') as string | undefined;
    if (value === undefined || allowed.includes(value)) return value;
    this.fault(name, `unknown ${name} "${value}"; known are ${allowed.join(', ')}`);
    return undefined;
  }

  /** The text of a field in the file, because a number of JavaScript is not exact; null for a list or map. */
  sourceOf(name: string): string | null {
    return this.file.sourceOf(this.pathOf(name)) ?? null;
  }

  /** @param name the wrong field; null if the whole map is wrong */
  fault(name: string | null, message: string): void {
    this.file.fault(name === null ? this.path : this.pathOf(name), message);
  }

  private pathOf(name: string): Path {
    return [...this.path, name];
  }
}

import ipaddr from 'ipaddr.js';

/** The configuration is wrong; the message lists every fault, one a line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads typed values out of an environment and gathers the faults, so that the operator sees all of them at once. */
export class EnvReader {
  private readonly faults: string[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** null when unset or empty: `NAME=` in a file means the same as no line. */
  optional(name: string): string | null {
    return this.env[name]?.trim() || null;
  }

  text(name: string, byDefault: string): string {
    return this.optional(name) ?? byDefault;
  }

  number(name: string, byDefault: number, min: number, max: number): number {
    const raw = this.optional(name);
    if (raw === null) return byDefault;
    const value = Number(raw);
    if (!/^[0-9]*\.?[0-9]+(e[0-9]+)?$/i.test(raw) || value < min || value > max) {
      this.faults.push(`${name} must be a number from ${min} to ${max}, not "${raw}"`);
      return byDefault;
    }
    return value;
  }

  integer(name: string, byDefault: number, min: number, max: number): number {
    const value = this.number(name, byDefault, min, max);
    this.check(Number.isInteger(value), name, 'must be a whole number');
    return value;
  }

  numbers(name: string, byDefault: number[], min: number, max: number): number[] {
    const values = this.list(name).map(Number);
    if (values.length === 0) return byDefault;
    const good = values.every((value) => Number.isFinite(value) && value >= min && value <= max);
    this.check(good, name, `must be numbers from ${min} to ${max}, separated by commas`);
    return values;
  }

  flag(name: string, byDefault: boolean): boolean {
    const raw = this.optional(name)?.toLowerCase();
    if (raw === undefined) return byDefault;
    if (['true', 'on', '1', 'yes'].includes(raw)) return true;
    this.check(['false', 'off', '0', 'no'].includes(raw), name, `must be on or off, not "${raw}"`);
    return false;
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[], byDefault: T): T {
    const raw = this.optional(name);
    if (raw === null) return byDefault;
    this.check(
      (allowed as readonly string[]).includes(raw),
      name,
      `must be one of ${allowed.join(', ')}, not "${raw}"`,
    );
    return raw as T;
  }

  /** The value is not repeated in a fault: addresses may carry passwords. */
  url(name: string, protocols: string[]): string | null {
    const raw = this.optional(name);
    if (raw === null) return null;
    const good = URL.canParse(raw) && protocols.includes(new URL(raw).protocol);
    this.check(good, name, `must be an address starting with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return raw;
  }

  secret(name: string, shape: RegExp, inWords: string): string | null {
    const raw = this.optional(name);
    if (raw !== null) this.check(shape.test(raw), name, `must be ${inWords}`);
    return raw;
  }

  list(name: string): string[] {
    return (this.optional(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  cidrs(name: string): string[] {
    const ranges = this.list(name);
    for (const range of ranges) {
      this.check(ipaddr.isValidCIDR(range), name, `must be CIDR ranges separated by commas; "${range}" is none`);
    }
    return ranges;
  }

  check(holds: boolean, name: string, fault: string): void {
    if (!holds) this.faults.push(`${name} ${fault}`);
  }

  /** @throws ConfigError when anything was wrong */
  done(): void {
    if (this.faults.length > 0) throw new ConfigError(this.faults);
  }
}

import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/catalog.ts';

/** How much of the client's own text a message repeats, in characters. */
const MAX_ECHO = 64;

/**
 * The fields of a request. `null` means left out, as in OpenAI's own API. The code that reads a request takes every
 * field that it knows. The fields that nothing has taken are unknown.
 */
export class Fields {
  private readonly taken = new Set<string>();
  private readonly refused = new Set<string>();

  /**
   * @param isForm whether the fields come from a form. All values of a form are text; those of fields with a known type
   *   have been converted
   */
  constructor(
    private readonly given: Record<string, unknown>,
    readonly isForm = false,
  ) {}

  get untaken(): string[] {
    return Object.keys(this.given).filter((name) => !this.taken.has(name));
  }

  /** Returns undefined if the field is left out or null. */
  take(name: string): unknown {
    this.taken.add(name);
    return Object.hasOwn(this.given, name) ? (this.given[name] ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(name, 'invalid_type', `${name} must be a string.`);
  }

  choice(name: string, values: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined || values.includes(value)) return value;
    throw invalid(name, 'invalid_value', `${name} must be one of ${values.join(', ')}, not ${echo(value)}.`);
  }

  flag(name: string): boolean | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw invalid(name, 'invalid_type', `${name} must be true or false.`);
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) throw invalid(name, 'invalid_type', `${name} must be an integer.`);
    if ((value as number) >= min && (value as number) <= max) return value as number;
    throw invalid(name, 'value_out_of_range', `${name} must be from ${min} to ${max}.`);
  }

  /** @param fields the fields that are not supported, each with what to do instead */
  refuse(fields: Readonly<Record<string, string>>): void {
    for (const [name, instead] of Object.entries(fields)) {
      this.refused.add(name);
      if (this.take(name) !== undefined) throw unsupported(name, `${name} is not supported. ${instead}`);
    }
  }

  /** Call this after everything else is read. @throws ApiError unknown_parameter */
  refuseUnknown(): void {
    const [unknown] = this.untaken;
    if (unknown === undefined) return;
    const param = unknown.length > MAX_ECHO ? `${unknown.slice(0, MAX_ECHO).toWellFormed()}…` : unknown;
    const allowed = [...this.taken]
      .filter((name) => !this.refused.has(name))
      .sort()
      .join(', ');
    throw invalid(param, 'unknown_parameter', `There is no parameter ${param}. Allowed: ${allowed}.`);
  }
}

export const invalid = (param: string, code: ErrorCode, message: string): ApiError =>
  new ApiError(code, { param, message });

export const unsupported = (param: string, message: string): ApiError =>
  invalid(param, 'unsupported_parameter', message);

/** The client's value, quoted and shortened for a message. */
export const echo = (text: string): string =>
  JSON.stringify(text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO).toWellFormed()}…` : text);

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { connectTimeoutOf, hostsOf } from './database-hosts.ts';

/**
 * The types of settings. Each parses the trimmed text of a variable, and gives the default when the variable is unset.
 * An error message follows the name of the variable, as in "PORT must be …". It repeats a value only if the value
 * cannot be a secret.
 */

const DECIMAL = /^[0-9]*\.?[0-9]+(e[0-9]+)?$/i;

/** The part of a zod issue that messages show. */
type Issue = { input?: unknown };

export function decimal(byDefault: number, min: number, max: number) {
  return decimalFrom(min, max).default(byDefault);
}

export function integer(byDefault: number, min: number, max: number) {
  return integerFrom(min, max).default(byDefault);
}

/** null when unset, for a setting without a fixed default. */
export function optionalInteger(min: number, max: number) {
  return integerFrom(min, max).nullable().default(null);
}

function decimalFrom(min: number, max: number) {
  const isAllowed = (text: string): boolean => DECIMAL.test(text) && Number(text) >= min && Number(text) <= max;
  const error = ({ input }: Issue): string => `must be a number from ${min} to ${max}, not "${String(input)}"`;
  return z.string().refine(isAllowed, { error, abort: true }).transform(Number);
}

function integerFrom(min: number, max: number) {
  return decimalFrom(min, max).refine(Number.isInteger, 'must be a whole number');
}

/** Numbers separated by commas. Without a number, the default. */
export function decimals(byDefault: readonly number[], min: number, max: number) {
  return z
    .string()
    .transform((text) => parts(text).map(Number))
    .transform((values): readonly number[] => (values.length > 0 ? values : byDefault))
    .refine(
      (values) => values.every((value) => value >= min && value <= max), // false for NaN too
      `must be numbers from ${min} to ${max}, separated by commas`,
    )
    .default(byDefault);
}

export function oneOf<const Word extends string>(words: readonly Word[], byDefault: NoInfer<Word>) {
  const error = ({ input }: Issue): string => `must be one of ${words.join(', ')}, not "${String(input)}"`;
  return z.enum(words, { error }).default(byDefault);
}

export function flag(byDefault: boolean) {
  return yesOrNo().default(byDefault);
}

/** null when unset, for a setting without a fixed default. */
export function optionalFlag() {
  return yesOrNo().nullable().default(null);
}

function yesOrNo() {
  const error = ({ input }: Issue): string => `must be on or off, not "${String(input)}"`;
  return z.stringbool({ truthy: ['true', 'on', '1', 'yes'], falsy: ['false', 'off', '0', 'no'], error });
}

/**
 * A URL; null when unset. The error message does not repeat the value, because a URL may hold a password.
 * @param schemes without the colon
 */
export function url(...schemes: readonly string[]) {
  const error = `must be an address starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  const protocol = new RegExp(`^(?:${schemes.join('|')})$`);
  return z.url({ protocol, error }).nullable().default(null);
}

/**
 * Base of all addresses of the service. It has no path, because the pages, cookies and redirects of the service are at
 * the root of its host. The error message does not repeat the value, because the value may hold a password.
 */
export function origin() {
  const error =
    'must be an address without a path, a query or a password, such as https://darkroom.example.com: the service is served at the root of its host';
  const isOrigin = (text: string): boolean => /^https?:\/\/[^/?#@]+\/?$/i.test(text);
  return url('http', 'https').refine((text) => text === null || isOrigin(text), { error });
}

/** Origins of pages, separated by commas, as browsers send them; `*` for any. */
export function origins() {
  const error = ({ input }: Issue): string =>
    `must be origins such as https://app.example.com, without a path, separated by commas, not "${String(input)}"`;
  const one = z.string().refine((text) => ORIGIN.test(text), { error });
  return z
    .string()
    .transform(parts)
    .pipe(z.array(one.transform(asSent)))
    .transform((given): readonly string[] => given)
    .default([]);
}

/** The origin of a web page, an app or an extension; `*` for any. A page from a file sends `null`. */
const ORIGIN = /^(?:\*|null|[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+\/?)$/i;

/** Browsers send an origin in lower case, without a slash at the end or a default port. */
function asSent(text: string): string {
  const { protocol, origin } = URL.parse(text) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? origin! : text.replace(/\/$/, '').toLowerCase();
}

/** A name or an address to listen on. The brackets of an IPv6 address, as in a link, are removed. */
export function host(byDefault: string) {
  const isHost = (text: string): boolean => isIP(text) !== 0 || /^[\w.-]+$/.test(text);
  const error = ({ input }: Issue): string =>
    `must be a name or an IP address to listen on, without a scheme or a port, not "${String(input)}"`;
  return z
    .string()
    .transform((text) => text.replace(/^\[(.*)\]$/, '$1'))
    .refine(isHost, { error })
    .default(byDefault);
}

/**
 * A text that `read` accepts. The value stays a text.
 * @param read throws an Error whose message follows the name of the variable. The message must not contain the value,
 *   which may hold a secret
 */
export function address(read: (text: string) => unknown) {
  return z
    .string()
    .superRefine((text, context) => {
      try {
        read(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
      }
    })
    .nullable()
    .default(null);
}

/** A URL that names one server or several: see database-hosts.ts. */
export function databaseUrl() {
  return address((text) => {
    if (!hostsOf(text).hosts.every(({ url: hostUrl }) => URL.canParse(hostUrl))) {
      throw new Error('must be an address starting with postgres:// or postgresql://');
    }
    connectTimeoutOf(text);
    const parameters = new URLSearchParams(text.split('?')[1]);
    const faults = CERTIFICATE_FILES.flatMap((name) => {
      const code = parameters.has(name) ? faultOf(parameters.get(name)!) : null;
      return code === null ? [] : [`${name} (${code})`];
    });
    if (faults.length > 0) throw new Error(`names files that cannot be read: ${faults.join(', ')}`);
  });
}

/** Parameters of a database URL that name files. */
const CERTIFICATE_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** @returns why a file cannot be read; null if it can */
function faultOf(path: string): string | null {
  try {
    readFileSync(path);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/**
 * A text of the form `pattern`; null when unset. The error message does not repeat the value.
 * @param shape the form in words, such as "32 bytes in hex"
 */
export function secret(pattern: RegExp, shape: string) {
  return z.string().regex(pattern, `must be ${shape}`).nullable().default(null);
}

/** Like `secret`, for a value that an error message may show. */
export function shaped(pattern: RegExp, shape: string) {
  const error = ({ input }: Issue): string => `must be ${shape}, not "${String(input)}"`;
  return z.string().regex(pattern, { error }).nullable().default(null);
}

/**
 * A path. Only a shell replaces `~`, `$NAME` and `%NAME%`. A path that begins with one of them is refused, because
 * otherwise the service would create a folder of this name.
 */
export function folder(byDefault: string) {
  const error = ({ input }: Issue): string =>
    `must be the whole path, not "${String(input)}": only a shell replaces ~ and variables`;
  return z
    .string()
    .regex(/^[^~$%]/, { error })
    .default(byDefault);
}

export function text(byDefault: string) {
  return z.string().default(byDefault);
}

export function optionalText() {
  return z.string().nullable().default(null);
}

/** A time in the past, such as 2026-11-23T06:00:00Z. */
export function optionalPast() {
  const error = ({ input }: Issue): string =>
    `must be a time in the past such as 2026-11-23T06:00:00.000Z, not "${String(input)}"`;
  return z.iso
    .datetime({ offset: true, error, abort: true })
    .refine((text) => Date.parse(text) <= Date.now(), { error })
    .transform((text) => new Date(text))
    .nullable()
    .default(null);
}

/** Texts separated by commas. */
export function list() {
  return z
    .string()
    .transform((text): readonly string[] => parts(text))
    .default([]);
}

/** Pairs such as `dall-e-3=gpt-image-2`, separated by commas. The value stays a text, which `readPairs` reads. */
export function pairs(byDefault: string) {
  const error = ({ input }: Issue): string => `must be pairs such as a=b separated by commas, not "${String(input)}"`;
  return z
    .string()
    .refine((given) => parts(given).every((pair) => PAIR.test(pair)), { error })
    .default(byDefault);
}

/**
 * Pairs as OpenTelemetry writes them: `key=value`, separated by commas, with percent-encoded values. The error message
 * repeats no value.
 */
export function keyValues() {
  return z
    .string()
    .refine((given) => parts(given).every((pair) => KEY_VALUE.test(pair) && URL_ENCODED.test(pair)), {
      error: 'must be pairs such as key=value separated by commas, with percent-encoded values',
      abort: true,
    })
    .transform((given): Readonly<Record<string, string>> => Object.fromEntries(parts(given).map(toKeyValue)))
    .default({});
}

const KEY_VALUE = /^[!#$%&'*+.^`|~\w-]+\s*=[^\r\n]*$/;
const URL_ENCODED = /^(?:[^%]|%[0-9a-f]{2})*$/i;

function toKeyValue(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
}

/** Pairs of a name and a word, such as `webhooks=warn,bus=debug`, separated by commas. */
export function wordByName<const Word extends string>(names: readonly string[], words: readonly Word[]) {
  const error = ({ input }: Issue): string =>
    `must be pairs such as ${names[0]}=${words[0]} separated by commas, not "${String(input)}"; ` +
    `the names are ${names.join(', ')}; the values are ${words.join(', ')}`;
  const isAllowed = ([name, word, more]: string[]): boolean =>
    more === undefined && names.includes(name ?? '') && words.includes((word ?? '') as Word);
  return z
    .string()
    .refine((given) => parts(given).every((pair) => isAllowed(pair.split('='))), { error, abort: true })
    .transform((given): Readonly<Record<string, Word>> =>
      Object.fromEntries(parts(given).map((pair) => pair.split('='))),
    )
    .default({});
}

const PAIR = /^([^=\s]+)=([^=\s]+)$/;

export function readPairs(given: string): Map<string, string> {
  return new Map(parts(given).map((pair) => pair.split('=') as [string, string]));
}

/** Ranges of IP addresses such as `10.0.0.0/8`, separated by commas. */
export function cidrs() {
  const error = ({ input }: Issue): string => `must be CIDR ranges separated by commas; "${String(input)}" is not one`;
  const range = z.string().refine((text) => ipaddr.isValidCIDR(text), { error });
  return z.string().transform(parts).pipe(z.array(range)).default([]);
}

function parts(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

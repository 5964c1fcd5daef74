import {
  getFromContainer,
  getMetadataStorage,
  type ValidationError,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import { paramPath } from './param-path.ts';
import { textMapsOf } from './field-checks.ts';

/** A custom rule may set the error code: `@Validate(PublicUrl, { context: { code: 'url_not_allowed' } })`. */
export interface RuleContext {
  code: ErrorCode;
}

const TYPE_RULES = ['isString', 'isInt', 'isNumber', 'isBoolean', 'isArray', 'isObject', 'nestedValidation'];

/**
 * If a value breaks several rules, the first entry that has a broken rule gives the code. The type comes before rules
 * that apply only to one type.
 */
const CODES: readonly (readonly [ErrorCode, readonly string[]])[] = [
  ['unknown_parameter', ['whitelistValidation']],
  ['invalid_type', TYPE_RULES],
  ['too_many_items', ['arrayMaxSize']],
  ['string_too_long', ['maxLength']],
  ['value_out_of_range', ['min', 'max', 'isPositive']],
  ['invalid_url', ['isUrl']],
];

/** Selects the one error that the client gets from all that class-validator found. */
export function faultOf(errors: readonly ValidationError[], above: readonly (string | number)[] = []): ApiError {
  const error = errors.find(isUnknown) ?? errors[0];
  const path = [...above, Array.isArray(error.target) ? Number(error.property) : error.property];
  if (error.constraints === undefined) return faultOf(error.children!, path);

  const [rule, code] = worstRule(error);
  const item = firstBadItem(error, rule);
  const param = paramPath(item === null ? path : [...path, item]);
  if (code === 'unknown_parameter') return unknownParameter(param, error.target?.constructor as InputClass | undefined);
  if (error.value === undefined)
    return new ApiError('missing_required_parameter', { param, message: `${param} is required.` });
  return new ApiError(code, { param, message: withFullPath(error.constraints[rule], error.property, param) });
}

type InputClass = new () => object;

/** With `inputClass`, the message also names the parameters that are allowed. */
export function unknownParameter(param: string, inputClass?: InputClass): ApiError {
  const names = inputClass ? namesOf(inputClass) : [];
  const allowed = names.length > 0 ? ` Allowed: ${names.join(', ')}.` : '';
  return new ApiError('unknown_parameter', { param, message: `There is no parameter ${param}.${allowed}` });
}

function namesOf(inputClass: InputClass): string[] {
  const maps = textMapsOf(inputClass);
  return [...propertiesOf(inputClass)].map((name) => (maps.has(name) ? `${name}[key]` : name));
}

/** The properties that an input class declares with rules. */
export function propertiesOf(inputClass: InputClass): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(inputClass, '', false, false);
  return new Set(rules.map(({ propertyName }) => propertyName));
}

function isUnknown(error: ValidationError): boolean {
  return error.constraints !== undefined && 'whitelistValidation' in error.constraints;
}

function worstRule(error: ValidationError): [rule: string, code: ErrorCode] {
  const broken = Object.keys(error.constraints!);
  for (const [code, rules] of CODES) {
    const rule = broken.find((one) => rules.includes(one));
    if (rule !== undefined) return [rule, code];
  }
  const context = error.contexts?.[broken[0]] as RuleContext | undefined;
  return [broken[0], context?.code ?? 'invalid_value'];
}

/**
 * Replaces the subject of class-validator's sentence ("url must …", "each value in events must …") by the full path.
 * Parsing a sentence is the only way, because class-validator renders the message before it returns the error. Own
 * messages for every rule would repeat all texts of class-validator.
 */
function withFullPath(message: string, property: string, param: string): string {
  const subject = [
    `each value in nested property ${property}`,
    `each value in ${property}`,
    `nested property ${property}`,
    property,
  ];
  const found = subject.find((one) => message.startsWith(`${one} `));
  const rest = found === undefined ? `: ${message}` : message.slice(found.length);
  return `${param}${rest.replace(/\.?$/, '.')}`;
}

/**
 * Finds the first item of a list that breaks an `each: true` rule. Because class-validator does not report this item,
 * this function runs the rule again, item by item. It takes the rule from class-validator's metadata storage and
 * container. Both are exported, but the fields of the metadata are not documented. The tests of input errors check them
 * (class-validator 0.15).
 * @returns null if no single item breaks the rule, as when the rule is about the whole list
 */
function firstBadItem(error: ValidationError, rule: string): number | null {
  if (!Array.isArray(error.value) || error.target === undefined) return null;
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(error.target.constructor, '', false, false);
  const broken = rules.find(({ propertyName, name, each }) => each && propertyName === error.property && name === rule);
  if (broken === undefined) return null;
  const [constraint] = storage.getTargetValidatorConstraints(broken.constraintCls);
  const validator = getFromContainer<ValidatorConstraintInterface>(
    constraint.target as new () => ValidatorConstraintInterface,
  );
  const { property, target } = error;
  const args = { constraints: broken.constraints ?? [], property, targetName: target.constructor.name, object: target };
  const index = error.value.findIndex((value: unknown) => validator.validate(value, { ...args, value }) !== true);
  return index === -1 ? null : index;
}

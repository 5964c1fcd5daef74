import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';
import { faultOf } from './input-fault.ts';
import { requireJsonObject } from '../http/json/json-body.ts';
import { paramPath } from './param-path.ts';

/** Parameter types that are not input classes. A handler that declares one of them checks the value itself. */
const UNCHECKED: ReadonlySet<unknown> = new Set([undefined, Object, String, Number, Boolean, Array, Date]);

/**
 * Validates bodies, query strings and GraphQL arguments against their input classes. Nest's own pipe coerces numbers in
 * paths and drops `__proto__` silently; this one coerces nothing and drops nothing.
 */
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom' || UNCHECKED.has(metatype)) return value;
    if (data !== undefined && (value === undefined || value === null)) return value; // an omitted GraphQL argument
    return validate(metatype!, value);
  }
}

function validate(metatype: Type<object>, value: unknown): object {
  const plain = value === undefined ? {} : requireJsonObject(value);
  rejectSpecialKeys(plain, []);
  const input = plainToInstance(metatype, plain, { exposeUnsetFields: false });
  const errors = validateSync(input, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (errors.length === 0) return input;
  if (value === undefined) requireJsonObject(value); // without a body, report that and not the first missing field
  throw faultOf(errors);
}

/** class-transformer skips these keys, so class-validator would never report them. */
const SPECIAL_KEYS = ['__proto__', 'constructor'];

function rejectSpecialKeys(value: unknown, path: (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of SPECIAL_KEYS) {
    if (!Object.hasOwn(value, key)) continue;
    const param = paramPath([...path, key]);
    throw new ApiError('unknown_parameter', { param, message: `There is no parameter ${param}.` });
  }
  for (const [key, item] of Object.entries(value)) {
    rejectSpecialKeys(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

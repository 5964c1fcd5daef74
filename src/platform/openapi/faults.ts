import { ApiExtension } from '@nestjs/swagger';
import type { ErrorCode } from '../../errors/catalog.ts';

/** Decorators leave data for the error responses under these keys of an operation. */
export const FAULTS = 'x-faults';
export const SCOPE_KEY = 'x-scope';

/**
 * Names the error codes that only some routes answer. Codes that follow from the key, scope, query, body or headers of
 * a route are added without this decorator.
 */
export const Fails = (...codes: ErrorCode[]): MethodDecorator => ApiExtension(FAULTS, codes) as MethodDecorator;

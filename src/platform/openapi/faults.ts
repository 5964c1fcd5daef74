import { ApiExtension } from '@nestjs/swagger';
import type { ErrorCode } from '../../errors/catalog.ts';

/** Decorators leave data for the error responses under these keys of an operation. */
export const FAULTS = 'x-faults';
export const SCOPE_KEY = 'x-scope';

/**
 * Names the codes that only some routes answer. Those that follow from key, scope, query, body and headers are left
 * out.
 */
export const Fails = (...codes: ErrorCode[]): MethodDecorator => ApiExtension(FAULTS, codes) as MethodDecorator;

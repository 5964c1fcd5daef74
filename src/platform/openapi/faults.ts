import { ApiExtension } from '@nestjs/swagger';
import type { ErrorCode } from '../../errors/catalog.ts';

/** The keys of an operation under which decorators leave what the error responses are made from. */
export const FAULTS = 'x-faults';
export const SCOPE_KEY = 'x-scope';

/** The codes that only some routes answer. Those that follow from key, scope, body and headers need not be named. */
export const Fails = (...codes: ErrorCode[]): MethodDecorator => ApiExtension(FAULTS, codes) as MethodDecorator;

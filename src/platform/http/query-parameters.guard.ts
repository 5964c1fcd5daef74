import { type CanActivate, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { unknownParameter } from '../schema/input-fault.ts';

const IGNORES_UNKNOWN_QUERY = 'http:ignores-unknown-query';

/**
 * Makes a route, or every route of a class, ignore unknown query parameters. The handler must not declare `@Query()`
 * with an input class, because the validation of such a class refuses unknown parameters.
 */
export const IgnoresUnknownQuery = () => SetMetadata(IGNORES_UNKNOWN_QUERY, true);

/**
 * `all`: this guard allows every name. Then the pipe validates the whole query against an input class, or the route
 * ignores unknown parameters.
 */
type KnownParameters = ReadonlySet<string> | 'all';

/**
 * Refuses query parameters that a REST route does not take, so that a misspelt one is never ignored. What a route takes
 * is derived from the `@Query` arguments of its handler. This is a guard, because it must run after authentication, and
 * also for handlers without arguments, for which no pipe runs.
 */
export class QueryParametersGuard implements CanActivate {
  private readonly reflector = new Reflector();
  private readonly knownByHandler = new WeakMap<object, KnownParameters>();

  canActivate(context: ExecutionContext): true {
    if (context.getType() !== 'http') return true; // GraphQL has its own parameters, and Apollo checks them
    const { query } = context.switchToHttp().getRequest<FastifyRequest>();
    for (const name in query as object) {
      const known = this.knownTo(context);
      if (known === 'all') break;
      if (!known.has(name)) throw unknownParameter(name);
    }
    return true;
  }

  private knownTo(context: ExecutionContext): KnownParameters {
    const handler = context.getHandler();
    let known = this.knownByHandler.get(handler);
    if (known === undefined) this.knownByHandler.set(handler, (known = this.read(context)));
    return known;
  }

  private read(context: ExecutionContext): KnownParameters {
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(IGNORES_UNKNOWN_QUERY, places)) return 'all';
    const names = queryArguments(context);
    return names.includes(undefined) ? 'all' : new Set(names as string[]);
  }
}

/** The names of the `@Query` arguments of a handler; undefined for an argument that takes the whole query. */
function queryArguments(context: ExecutionContext): (string | undefined)[] {
  const method = context.getHandler().name;
  // The keys are `kind:index` of the argument. The kind of a custom decorator is no number.
  const declared = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), method) as
    Record<string, { data?: string }> | undefined;
  return Object.entries(declared ?? {})
    .filter(([place]) => place.startsWith(`${RouteParamtypes.QUERY}:`))
    .map(([, { data }]) => data);
}

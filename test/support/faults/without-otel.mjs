import { registerHooks } from 'node:module';

/**
 * Loaded with `--import`: the program fails if it loads an OpenTelemetry package. The API is allowed, because
 * prom-client requires it.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (/^@opentelemetry\/(?!api(?:$|\/))/.test(specifier)) throw new Error(`${specifier} must not be loaded`);
    return next(specifier, context);
  },
});

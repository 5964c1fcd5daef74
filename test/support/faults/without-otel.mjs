import { registerHooks } from 'node:module';

/** Loaded with `--import`: a program that loads any OpenTelemetry package but the API, which prom-client requires, fails. */
registerHooks({
  resolve(specifier, context, next) {
    if (/^@opentelemetry\/(?!api(?:$|\/))/.test(specifier)) throw new Error(`${specifier} must not be loaded`);
    return next(specifier, context);
  },
});

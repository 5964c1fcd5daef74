import { LOG_CONTEXTS, LOG_LEVELS } from './log-levels.ts';
import { setting } from './setting.ts';
import { decimal, keyValues, list, oneOf, text, url, wordByName } from './setting-types.ts';

const SAMPLERS = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

/** Settings of logs and traces. OpenTelemetry defines those that begin with OTEL_, except OTEL_PROPAGATE_TO. */
export const OBSERVATION_SETTINGS = {
  logLevels: setting(
    'LOG_LEVELS',
    'operation',
    wordByName(LOG_CONTEXTS, LOG_LEVELS),
    'Levels of single parts of the service, such as webhooks=warn,bus=debug.',
  ),
  logRequests: setting(
    'LOG_REQUESTS',
    'operation',
    oneOf(['all', 'errors', 'none'], 'all'),
    'Which requests are logged: all, those with a status of 400 or above, or none.',
  ),
  otelEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'operation',
    url('http', 'https'),
    'Where traces are sent, over OTLP with HTTP; unset: there are none.',
  ),
  otelHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'operation',
    keyValues(),
    'Headers of those requests, such as api-key=secret.',
  ),
  otelSampler: setting(
    'OTEL_TRACES_SAMPLER',
    'operation',
    oneOf(SAMPLERS, 'traceidratio'),
    'How requests are sampled; parentbased_… trusts the flag of a client.',
  ),
  otelSamplerArg: setting('OTEL_TRACES_SAMPLER_ARG', 'operation', decimal(0.05, 0, 1), 'The sampled part of requests.'),
  otelResourceAttributes: setting(
    'OTEL_RESOURCE_ATTRIBUTES',
    'operation',
    keyValues(),
    'Attributes of every span, such as deployment.environment.name=test.',
  ),
  otelPropagateTo: setting(
    'OTEL_PROPAGATE_TO',
    'operation',
    list(),
    'Providers, by name, that get the traceparent of a call; none when unset.',
  ),
  otelServiceName: setting(
    'OTEL_SERVICE_NAME',
    'operation',
    text('darkroom'),
    'The name of this service in its log lines and traces.',
  ),
};

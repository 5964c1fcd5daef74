import type { Config } from '../../config/config.ts';

/** The settings of traces. */
export type TraceSettings = Pick<
  Config,
  | 'otelEndpoint'
  | 'otelHeaders'
  | 'otelSampler'
  | 'otelSamplerArg'
  | 'otelServiceName'
  | 'otelResourceAttributes'
  | 'otelPropagateTo'
  | 'role'
>;

import type { Config } from '../../config/config.ts';

/** What the operator says about traces. */
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

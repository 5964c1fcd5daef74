import type { Config } from '../../config/config.ts';

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

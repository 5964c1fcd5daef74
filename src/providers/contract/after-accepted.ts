import { ProviderError } from './provider.ts';

/** The failure, for a generation of which earlier jobs or calls were accepted: at least those are billed. */
export function afterAccepted({ code, message, param, cause, billing }: ProviderError): ProviderError {
  return new ProviderError(code, {
    message,
    billing: billing === 'none' ? 'charged' : billing,
    cause,
    ...(param === undefined ? {} : { param }),
  });
}

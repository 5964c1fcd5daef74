import type { BuiltFile, Encoding } from './built-files.ts';

/** The compressed codings, the one that compresses best first. */
const PREFERRED: readonly Encoding[] = ['br', 'gzip'];

/** The content coding to send, by `Accept-Encoding` (RFC 9110, 12.5.3). */
export function codingFor({ in: stored }: BuiltFile, acceptEncoding: string | undefined): Encoding {
  const accepted = weightsIn(acceptEncoding);
  const takes = (coding: Encoding): boolean => (accepted.get(coding) ?? accepted.get('*') ?? 0) > 0;
  return PREFERRED.find((coding) => stored[coding] && takes(coding)) ?? 'identity';
}

function weightsIn(header = ''): Map<string, number> {
  return new Map(
    header.split(',').map((part): [string, number] => {
      const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [coding, weight === undefined ? 1 : Number(weight) || 0];
    }),
  );
}

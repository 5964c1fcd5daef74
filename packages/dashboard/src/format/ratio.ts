interface Parameters {
  properties?: Record<string, { enum?: readonly unknown[]; default?: unknown }>;
}

export const looksLikeRatios = (values: readonly unknown[]): boolean =>
  values.some((value) => /^\d+:\d+$/.test(String(value)));

/**
 * The width-to-height ratio of a request: the chosen one, else the default of the model; 1: the model decides.
 * @param schema the parameters of the model; undefined: not read yet
 */
export function ratioOf(request: Record<string, unknown>, schema: Parameters | undefined): number {
  const fields = Object.entries(schema?.properties ?? {});
  const [name, field] = fields.find(([, { enum: values }]) => values && looksLikeRatios(values)) ?? ['aspect_ratio'];
  const [width = 0, height = 0] = String(request[name] ?? field?.default)
    .split(':')
    .map(Number);
  return width > 0 && height > 0 ? width / height : 1;
}

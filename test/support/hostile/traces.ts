/** @returns the secrets in the texts, each with its context */
export function tracesOf(secrets: ReadonlyMap<string, string>, texts: readonly string[]): string[] {
  return [...secrets].flatMap(([name, secret]) =>
    texts.flatMap((text) => {
      const at = text.indexOf(secret);
      return at < 0 ? [] : [`${name}: ${text.slice(Math.max(0, at - 150), at + secret.length + 50)}`];
    }),
  );
}

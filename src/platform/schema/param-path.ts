/** Renders the `param` of an error: `metadata.a`, `reference_images[2]`. */
export function paramPath(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  }
  return printable(path);
}

/** Only keys that the client chose make a path longer. 256 characters are enough to recognise them. */
const MAX_LENGTH = 256;

/** A key may contain half a surrogate pair or control characters; the response must stay readable. */
function printable(path: string): string {
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  return path
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f]/g, '\ufffd');
}

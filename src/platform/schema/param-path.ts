/** How `param` names a place in the input: `metadata.a`, `reference_images[2]`. The one home of this syntax. */
export function paramPath(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  }
  return printable(path);
}

/** Longer paths only come from keys the client made up; 256 characters still tell which. */
const MAX_LENGTH = 256;

/** A key at fault may itself be half a surrogate pair or hold control characters; the reply must stay readable. */
function printable(path: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return path
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f]/g, '\ufffd');
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SYNTAX = /^dr_(?<random>[0-9A-Za-z]{40})(?<checksum>[0-9A-Za-z]{6})$/;

/** Why the text cannot be an API key; null: it can be one. The form shows this reason and does not send the text. */
export function keyFault(text: string): string | null {
  if (text === '') return 'Enter an API key.';
  if (!text.startsWith('dr_')) return 'An API key begins with dr_.';
  const { random, checksum } = SYNTAX.exec(text)?.groups ?? {};
  if (!random) return `An API key has 49 characters, and this one has ${text.length}.`;
  return checksumOf(random) === checksum ? null : 'A character of this API key is wrong. Copy it again, whole.';
}

function checksumOf(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = DIGITS.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i++) {
    crc ^= ascii.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

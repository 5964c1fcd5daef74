/**
 * Copies a text. If the browser refuses the clipboard, as for pages without https, it copies by a selection.
 * @throws Error when the browser copies in neither way
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  copyBySelection(text);
}

function copyBySelection(text: string): void {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('The browser did not copy it.');
}

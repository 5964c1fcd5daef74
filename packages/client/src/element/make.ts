/** Makes a DOM element from its name and properties. `part` is its name for the style sheets of the page. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part: string,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.setAttribute('part', part);
  return element;
}

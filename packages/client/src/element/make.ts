/** A DOM element by its name, its properties, and its parts for the style sheets of the page. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part: string,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.setAttribute('part', part);
  return element;
}

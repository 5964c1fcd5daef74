/** Makes a DOM element from its tag name and properties. Style sheets of the page select it by `::part()`. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part: string,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.setAttribute('part', part);
  return element;
}

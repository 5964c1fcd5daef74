/** Makes a DOM element. Style sheets of the page select the element by `::part()` with one of the names in `part`. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part: string,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.setAttribute('part', part);
  return element;
}

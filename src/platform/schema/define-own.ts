/** Sets a property of any name. An assignment to `__proto__` would define none, so its value would pass unchecked. */
export function defineOwn(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

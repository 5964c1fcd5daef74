/** A slot in a template: `{{name}}` or `{{name:form}}`. */
export interface TemplateSlot {
  name: string;
  /**
   * How the value is written: `text` or, for an image, `data`, `base64`, `url` or `file`. null if the slot names no
   * form.
   */
  form: string | null;
  /** Whether the text is only this slot. The value then keeps its type, and without a value the field is left out. */
  isWhole: boolean;
}

/** The names and indexes that lead to a value in a template. */
export type TemplatePath = readonly (string | number)[];

const SLOT = /\{\{([^{}]*)\}\}/g;

export function slotsOf(text: string): TemplateSlot[] {
  return [...text.matchAll(SLOT)].map(([whole, content = '']) => {
    const [name = '', form = null] = content.trim().split(':', 2) as [string, string?];
    return { name, form: form ?? null, isWhole: whole === text };
  });
}

/** Calls `visit` with each text of a template, and with the path to it. */
export function eachText(
  template: unknown,
  visit: (text: string, path: TemplatePath) => void,
  path: TemplatePath = [],
): void {
  if (typeof template === 'string') visit(template, path);
  else if (Array.isArray(template)) template.forEach((item, at) => eachText(item, visit, [...path, at]));
  else if (typeof template === 'object' && template !== null) {
    for (const [name, value] of Object.entries(template)) eachText(value, visit, [...path, name]);
  }
}

export function hasSlot(template: unknown, name: string): boolean {
  let isThere = false;
  eachText(template, (text) => {
    isThere ||= slotsOf(text).some((slot) => slot.name === name);
  });
  return isThere;
}

/** Returns the value of a slot; undefined if the slot has no value. */
export type SlotValue = (slot: TemplateSlot) => unknown;

/**
 * Puts values into a template. A text that is only one slot becomes the value with its type. Without a value the field
 * or element is left out, and so is a map or list that is then empty. In longer text the value is written as text.
 * Values are never read as templates again.
 */
export function fillTemplate(template: unknown, valueOf: SlotValue): unknown {
  if (typeof template === 'string') return fillText(template, valueOf);
  if (Array.isArray(template)) {
    const items = template.map((item) => fillTemplate(item, valueOf)).filter((item) => item !== undefined);
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  if (typeof template !== 'object' || template === null) return template;
  const fields = Object.entries(template)
    .map(([name, value]) => [name, fillTemplate(value, valueOf)] as const)
    .filter(([, value]) => value !== undefined);
  return fields.length === 0 && Object.keys(template).length > 0 ? undefined : Object.fromEntries(fields);
}

function fillText(text: string, valueOf: SlotValue): unknown {
  const [only] = slotsOf(text);
  if (only?.isWhole) return only.form === 'text' ? textOrAbsent(valueOf(only)) : valueOf(only);
  return text.replaceAll(SLOT, (whole) => {
    const [slot] = slotsOf(whole);
    return String(valueOf({ ...slot!, isWhole: false }) ?? '');
  });
}

const textOrAbsent = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

import { statSync } from 'node:fs';
import { readTextFile } from '../../platform/config/text-file.ts';
import { gptImage2 } from './templates/gpt-image-2.ts';
import { nanoBanana2 } from './templates/nano-banana-2.ts';
import { nanoBananaPro } from './templates/nano-banana-pro.ts';
import { parseTemplate, type Template, TemplateError } from './template.ts';

/** The shipped templates, by the id of the public model that they serve. */
export const SHIPPED_TEMPLATES: Readonly<Record<string, Template>> = {
  'gpt-image-2': gptImage2,
  'nano-banana-2': nanoBanana2,
  'nano-banana-pro': nanoBananaPro,
};

/** The parsed workflow files by path. A file whose time or size has changed is read again. */
const files = new Map<string, { version: string; template: Template }>();

/**
 * @param name `default`: the shipped template of `modelId`. The id of a model: the shipped template of that model. A
 *   path that ends in `.json`: a workflow file, relative to the working directory of the service
 * @throws TemplateError with a message for the operator
 */
export function loadTemplate(name: string, modelId: string): Template {
  if (name.endsWith('.json')) return readTemplate(name);
  const id = name === 'default' ? modelId : name;
  const shipped = Object.hasOwn(SHIPPED_TEMPLATES, id) ? SHIPPED_TEMPLATES[id] : undefined;
  if (shipped) return shipped;
  const names = Object.keys(SHIPPED_TEMPLATES).join(', ');
  throw new TemplateError(`"${id}" is neither the path of a .json file nor one of ${names}`);
}

function readTemplate(name: string): Template {
  try {
    const { mtimeMs, size } = statSync(name);
    const version = `${mtimeMs}/${size}`;
    const known = files.get(name);
    if (known?.version === version) return known.template;
    const template = parseTemplate(JSON.parse(readTextFile(name)));
    files.set(name, { version, template });
    return template;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new TemplateError(`${name}: ${code === undefined ? message : `cannot be read (${code})`}`, { cause: error });
  }
}

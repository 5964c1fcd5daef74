import type { Json } from './component.ts';
import { EXAMPLES } from './examples.gen.ts';

const IS_TEXT = /^(?:application\/json|application\/jsonl|text\/event-stream)$/;

/** Adds what a running service was asked and has answered to the operation: path parameters, body, success. */
export function addExamples(operation: Json, method: string, path: string): void {
  const example = EXAMPLES[`${method.toUpperCase()} ${path}`];
  if (!example) return;
  const { parameters = {}, request, response } = example as Json;
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'path' && parameter.name in parameters) parameter.example = parameters[parameter.name];
  }
  const sent = operation.requestBody?.content?.['application/json'];
  if (sent && request !== undefined) sent.example = request;
  for (const [status, { content = {} }] of Object.entries<Json>(operation.responses)) {
    // Of several types the example has the first.
    const [type] = Object.keys(content);
    if (status.startsWith('2') && type && IS_TEXT.test(type) && response) content[type].example = response;
  }
}

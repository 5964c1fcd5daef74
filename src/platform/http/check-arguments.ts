import { ValidationPipe } from './validation.pipe.ts';

const pipe = new ValidationPipe();

/**
 * Applies the rules of the REST input to single GraphQL arguments. In GraphQL, null means that the argument was left
 * out.
 */
export function checkArguments<Input extends object>(input: new () => Input, values: object): Input {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return pipe.transform(Object.fromEntries(given), { type: 'body', metatype: input }) as Input;
}

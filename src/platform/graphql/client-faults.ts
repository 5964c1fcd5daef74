import type { GraphQLError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import { snakeCase } from '../schema/snake-case.ts';

/**
 * What a document or its variables can have wrong, by the words of graphql-js 16, which has no codes of its own. `param`
 * is the field's name in REST, as it is for every other failure of that field.
 */
const FAULTS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/holds a NUL character/, 'invalid_unicode'],
  [/Field "(?<param>\w+)" is not defined by type/, 'unknown_parameter'],
  [/^Unknown argument "(?<param>\w+)"/, 'unknown_parameter'],
  [/Field "(?:\w+\.)?(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/^Variable "\$(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/argument "(?<param>\w+)" of (?:required )?type .* (?:was not provided|is required)/i, 'missing_required_parameter'],
  [/does not exist in "\w+" enum|Enum "\w+" cannot represent/, 'invalid_value'],
  [/cannot represent non 32-bit signed integer/, 'value_out_of_range'],
  [/cannot represent|^Expected value of type|must not be null/, 'invalid_type'],
];
/** `Variable "$input" got invalid value 2 at "input.referenceImages[0]"; String cannot represent …` */
const PLACE = /^Variable "\$\w+" got invalid value .* at "\w+?\.(?<param>[\w.[\]]+)";/s;

/** For an error of graphql-js itself: the document, its variables or its arguments were wrong. */
export function clientFault(error: GraphQLError): ApiError {
  const { message } = error;
  const found = FAULTS.find(([words]) => words.test(message));
  const param = PLACE.exec(message)?.groups?.param ?? found?.[0].exec(message)?.groups?.param;
  return new ApiError(found?.[1] ?? 'invalid_body', {
    message: withoutValues(message),
    ...(param !== undefined && { param: snakeCase(param) }),
    status: 400,
  });
}

/** What graphql-js repeats of a value: with a wrong field beside it that is the whole input, prompt and all. */
const INPUT_VALUE = / got invalid value .*?(?=(?: at "[\w.[\]]+")?; (?:Field|Expected|Enum|Value|[A-Z]\w* cannot))/s;
const TOLD_VALUE = /(cannot represent [\w\s-]{1,60}): .*/s;

function withoutValues(message: string): string {
  return message.replace(INPUT_VALUE, ' got an invalid value').replace(TOLD_VALUE, '$1.');
}

import type { GraphQLError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import { snakeCase } from '../schema/snake-case.ts';

/**
 * Maps messages of graphql-js 16, which has no error codes, to our codes. `param` is the field's REST name, as in every
 * other error about that field.
 */
const FAULTS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/holds a NUL character/, 'invalid_unicode'],
  [/Field "(?<param>\w+)" is not defined by type/, 'unknown_parameter'],
  [/^Unknown argument "(?<param>\w+)"/, 'unknown_parameter'],
  [/Field "(?:\w+\.)?(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/^Variable "\$(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/argument "(?<param>\w+)" of (?:required )?type .* (?:was not provided|is required)/i, 'missing_required_parameter'],
  [/does not exist in "\w+" enum|Enum "\w+" cannot represent/, 'invalid_value'],
  [/cannot represent non (?:32|53)-bit signed integer/, 'value_out_of_range'],
  [/cannot represent|^Expected value of type|must not be null/, 'invalid_type'],
];
/** `Variable "$input" got invalid value 2 at "input.referenceImages[0]"; String cannot represent …` */
const VARIABLE_PATH = /^Variable "\$\w+" got invalid value .* at "\w+?\.(?<param>[\w.[\]]+)";/s;

/** The public form of an error that graphql-js found in the document, its variables or its arguments. */
export function clientFault(error: GraphQLError): ApiError {
  const { message } = error;
  const fault = FAULTS.find(([pattern]) => pattern.test(message));
  const param = VARIABLE_PATH.exec(message)?.groups?.param ?? fault?.[0].exec(message)?.groups?.param;
  return new ApiError(fault?.[1] ?? 'invalid_body', {
    message: withoutQuotedValues(message),
    ...(param !== undefined && { param: snakeCase(param) }),
    status: 400,
  });
}

/** The part of a message that quotes a value. It may be the whole input, including the prompt. */
const QUOTED_INPUT = / got invalid value .*?(?=(?: at "[\w.[\]]+")?; (?:Field|Expected|Enum|Value|[A-Z]\w* cannot))/s;
const QUOTED_SCALAR = /(cannot represent [\w\s-]{1,60}): .*/s;

function withoutQuotedValues(message: string): string {
  return message.replace(QUOTED_INPUT, ' got an invalid value').replace(QUOTED_SCALAR, '$1.');
}

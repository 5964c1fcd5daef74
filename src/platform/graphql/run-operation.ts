import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
  type ValidationRule,
} from 'graphql';
import { DOCUMENT_LIMITS, excessOfLines, limitDocument } from './document-limits.ts';
import { operationEnded } from './graphql-metrics.ts';

type Answer = ExecutionResult | AsyncGenerator<ExecutionResult, void, void>;

/** The validation rules for documents that do not pass through Apollo. */
export const rulesOf = (introspection: boolean): ValidationRule[] => [
  ...specifiedRules,
  limitDocument,
  ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
];

/** @returns the document, or its errors if it is invalid */
export function parseDocument(
  schema: GraphQLSchema,
  query: string,
  rules: readonly ValidationRule[],
): DocumentNode | GraphQLError[] {
  const excess = excessOfLines(query);
  if (excess) return [new GraphQLError(excess.message, { originalError: excess })];
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: DOCUMENT_LIMITS.tokens });
  } catch (error) {
    return [error as GraphQLError];
  }
  const errors = validate(schema, document, rules);
  return errors.length > 0 ? [...errors] : document;
}

export async function measured<Result extends Answer>(
  args: ExecutionArgs,
  run: (args: ExecutionArgs) => Result | Promise<Result>,
): Promise<Result> {
  const begunMs = performance.now();
  const result = await run(args);
  const type = getOperationAST(args.document, args.operationName)?.operation;
  operationEnded(type, 'errors' in result ? result.errors : undefined, begunMs);
  return result;
}

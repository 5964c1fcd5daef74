import { execute, type ExecutionArgs, getOperationAST } from 'graphql';
import { currentScope } from '../observe/traces/span.ts';
import { traces } from '../observe/traces/traces.ts';

/**
 * Executes a query or a mutation that came over a socket. If the operation is traced, it gets a span of its own. Over
 * HTTP the request has the span.
 */
export function executeInSpan(args: ExecutionArgs): ReturnType<typeof execute> {
  if (!traces.isOn) return execute(args);
  const type = getOperationAST(args.document, args.operationName)?.operation ?? 'query';
  const span = traces.accept(`graphql ${type}`, undefined, { 'graphql.operation.type': type });
  if (!span) return execute(args);
  return currentScope.run({ span, stage: null }, async () => {
    try {
      return await execute(args);
    } finally {
      span.end();
    }
  });
}

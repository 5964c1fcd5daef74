import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TokenKind,
  TypeMetaFieldDef,
  type ValidationContext,
  visit,
} from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { DEFAULT_PAGE, MAX_PAGE } from './connection.ts';

/**
 * Limits of one document. GraphiQL's introspection query has 240 tokens; the deepest useful query of this API has 6
 * levels.
 */
export const DOCUMENT_LIMITS = Object.freeze({
  tokens: 1000,
  /**
   * The parser's limit of tokens does not count comments, but a parsed document keeps a token for each comment. A body
   * of 1 MB can have 340,000 comments, which take 32 MB.
   */
  comments: 200,
  /**
   * `tokens` does not limit the lines. For each of up to 100 errors, graphql-js counts the lines before its position.
   */
  lines: 5_000,
  depth: 10,
  aliases: 30,
  directives: 20,
  rootFields: 20,
  /**
   * The most values in the response; lists count with their requested or an assumed size. A full page of tasks with all
   * fields costs some 6,000.
   */
  cost: 10_000,
  /**
   * The most JSON values in the response. The `input` of a task may have 64 KB of text or more; other JSON values are
   * small. A full page of tasks has two JSON values for each task.
   */
  json: 200,
  /**
   * The most JSON values in one state of a subscription. It is small, because 1,000 subscriptions of an API key may get
   * each change of a task.
   */
  jsonOfSubscription: 2,
  /**
   * How much of the schema a document may ask for, as a multiple of the introspection query that tools send. An answer
   * to that query has 330 kB.
   */
  introspections: 2,
});

/** Assumed size of a list that no argument bounds. */
const ASSUMED_LIST_SIZE = 4;
/** Default of the argument `minutes`. */
const DEFAULT_MINUTES = 60;
const MAX_MINUTES = 1_440;

interface Size {
  depth: number;
  cost: number;
  /** Like `cost`, but only for JSON values. */
  json: number;
  /** Like `cost`, but for values of the schema itself. */
  schemaCost: number;
}
const ZERO: Size = { depth: 0, cost: 0, json: 0, schemaCost: 0 };
const META_FIELDS = [SchemaMetaFieldDef, TypeMetaFieldDef];

/**
 * A validation rule that rejects documents that are cheap to send but expensive to execute, and documents with invalid
 * text. Each fragment is measured at most twice, so that nested fragments cannot make the measuring itself expensive.
 * Another rule limits the depth of introspection.
 */
export function limitDocument(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      for (const message of violations(document, context)) context.reportError(new GraphQLError(message));
      return false;
    },
  };
}

function* violations(document: DocumentNode, context: ValidationContext): Generator<string> {
  const { aliases, directives, hasInvalidText } = count(document);
  if (commentsOf(document) > DOCUMENT_LIMITS.comments) yield tooMany('comments', DOCUMENT_LIMITS.comments);
  if (aliases > DOCUMENT_LIMITS.aliases) yield tooMany('aliases', DOCUMENT_LIMITS.aliases);
  if (directives > DOCUMENT_LIMITS.directives) yield tooMany('directives', DOCUMENT_LIMITS.directives);
  if (hasInvalidText) yield 'A text in the document holds a NUL character or half of a surrogate pair.';

  const schema = context.getSchema();
  const meter = new Meter(document, schema);
  for (const operation of document.definitions) {
    if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, cost, json, schemaCost, rootFields } = meter.measure(operation);
    if (rootFields > DOCUMENT_LIMITS.rootFields) yield tooMany('root fields', DOCUMENT_LIMITS.rootFields);
    if (depth > DOCUMENT_LIMITS.depth) yield `The document is nested deeper than ${DOCUMENT_LIMITS.depth} levels.`;
    if (cost > DOCUMENT_LIMITS.cost) {
      yield `The document asks for up to ${cost} values at once; ${DOCUMENT_LIMITS.cost} are allowed. Ask for fewer fields or smaller pages.`;
    }
    const jsonLimit =
      operation.operation === OperationTypeNode.SUBSCRIPTION
        ? DOCUMENT_LIMITS.jsonOfSubscription
        : DOCUMENT_LIMITS.json;
    if (json > jsonLimit) {
      yield `The document asks for up to ${json} JSON values at once, such as inputs; ${jsonLimit} are allowed. Ask for fewer fields or smaller pages.`;
    }
    const schemaLimit = DOCUMENT_LIMITS.introspections * introspectionCost(schema);
    if (schemaCost > schemaLimit) {
      yield `The document asks for up to ${schemaCost} values of the schema; ${schemaLimit} are allowed. Ask for it once.`;
    }
  }
}

/** Call this before a document is parsed. @returns why it must not be parsed; null if it may be */
export function excessOfLines(text: string): ApiError | null {
  if (text.split(/\r\n|[\n\r]/, DOCUMENT_LIMITS.lines + 1).length <= DOCUMENT_LIMITS.lines) return null;
  return new ApiError('invalid_body', { message: tooMany('lines', DOCUMENT_LIMITS.lines) });
}

const tooMany = (what: string, limit: number) => `The document has too many ${what}; ${limit} are allowed.`;

function count(document: DocumentNode): { aliases: number; directives: number; hasInvalidText: boolean } {
  const counted = { aliases: 0, directives: 0, hasInvalidText: false };
  visit(document, {
    Field: (field) => void (counted.aliases += field.alias ? 1 : 0),
    Directive: () => void (counted.directives += 1),
    StringValue: ({ value }) => void (counted.hasInvalidText ||= value.includes('\0') || !value.isWellFormed()),
  });
  return counted;
}

function commentsOf({ loc }: DocumentNode): number {
  let comments = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) {
    if (token.kind === TokenKind.COMMENT) comments += 1;
  }
  return comments;
}

const introspectionCosts = new WeakMap<GraphQLSchema, number>();

/** The cost of the introspection query that tools send. */
function introspectionCost(schema: GraphQLSchema): number {
  let cost = introspectionCosts.get(schema);
  if (cost === undefined) {
    const document = parse(getIntrospectionQuery());
    const [operation] = document.definitions as [OperationDefinitionNode];
    cost = new Meter(document, schema).measure(operation).schemaCost;
    introspectionCosts.set(schema, cost);
  }
  return cost;
}

class Meter {
  private readonly fragments: Map<string, FragmentDefinitionNode>;
  private readonly measured = new Map<string, Size>();
  private readonly typeCount: number;

  constructor(
    document: DocumentNode,
    private readonly schema: GraphQLSchema,
  ) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    this.typeCount = Object.keys(schema.getTypeMap()).length;
  }

  measure(operation: OperationDefinitionNode): Size & { rootFields: number } {
    const root = this.schema.getRootType(operation.operation) ?? undefined;
    const names = new Set<string>();
    this.collectNames(operation.selectionSet, names, new Set());
    return { ...this.sizeOf(operation.selectionSet, root, false), rootFields: names.size };
  }

  private collectNames(set: SelectionSetNode, names: Set<string>, seen: Set<string>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) names.add((selection.alias ?? selection.name).value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) this.collectNames(selection.selectionSet, names, seen);
      else {
        const { value: name } = selection.name;
        const fragment = this.fragments.get(name);
        if (!fragment || seen.has(name)) continue;
        this.collectNames(fragment.selectionSet, names, seen.add(name));
      }
    }
  }

  /** @param counted whether the page size of the parent field already accounts for the list inside */
  private sizeOf(set: SelectionSetNode, type: GraphQLNamedType | undefined, counted: boolean): Size {
    let { depth, cost, json, schemaCost } = ZERO;
    for (const selection of set.selections) {
      const size =
        selection.kind === Kind.FIELD
          ? this.sizeOfField(selection, type, counted)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? this.sizeOf(selection.selectionSet, this.conditionOf(selection) ?? type, counted)
            : this.sizeOfFragment(selection.name.value, counted);
      depth = Math.max(depth, size.depth);
      cost += size.cost;
      json += size.json;
      schemaCost += size.schemaCost;
    }
    return { depth, cost, json, schemaCost };
  }

  private sizeOfField(field: FieldNode, type: GraphQLNamedType | undefined, counted: boolean): Size {
    const { value: name } = field.name;
    const meta = META_FIELDS.find((each) => each.name === name);
    if (meta) return this.sizeOfSchema(field, getNamedType(meta.type));
    if (name.startsWith('__')) return ZERO;
    const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    const isJson = definition !== undefined && getNamedType(definition.type).name === 'JSON';
    if (!definition || !field.selectionSet) return { ...ZERO, depth: 1, cost: 1, json: isJson ? 1 : 0 };
    const isPage = definition.args.some(({ name }) => name === 'first');
    const isHistory = definition.args.some(({ name }) => name === 'minutes');
    const isList = isListType(getNullableType(definition.type));
    const listSize = type?.name === '__Schema' && name === 'types' ? this.typeCount : ASSUMED_LIST_SIZE;
    const times = isPage ? pageSize(field) : isHistory ? minutesOf(field) : isList && !counted ? listSize : 1;
    const inside = this.sizeOf(field.selectionSet, getNamedType(definition.type), isPage);
    return {
      depth: 1 + inside.depth,
      cost: 1 + times * inside.cost,
      json: times * inside.json,
      schemaCost: inside.schemaCost,
    };
  }

  private sizeOfSchema({ selectionSet }: FieldNode, type: GraphQLNamedType): Size {
    return { ...ZERO, schemaCost: selectionSet ? 1 + this.sizeOf(selectionSet, type, false).cost : 1 };
  }

  private sizeOfFragment(name: string, counted: boolean): Size {
    const key = `${name} ${counted}`;
    const known = this.measured.get(key);
    if (known) return known;
    const fragment = this.fragments.get(name);
    if (!fragment) return ZERO;
    this.measured.set(key, ZERO); // stops at a recursive fragment, which another rule rejects
    const size = this.sizeOf(fragment.selectionSet, this.conditionOf(fragment), counted);
    this.measured.set(key, size);
    return size;
  }

  private conditionOf(node: { typeCondition?: { name: { value: string } } | undefined }): GraphQLNamedType | undefined {
    return node.typeCondition && this.schema.getType(node.typeCondition.name.value);
  }
}

/** A variable counts as the largest page, because its value is not known during validation. */
function pageSize(field: FieldNode): number {
  return sizeIn(field, 'first', DEFAULT_PAGE, MAX_PAGE);
}

/** A history has one entry per minute. */
function minutesOf(field: FieldNode): number {
  return sizeIn(field, 'minutes', DEFAULT_MINUTES, MAX_MINUTES);
}

/** A variable counts as `most`. A missing argument, or null, counts as `usual`. */
function sizeIn(field: FieldNode, argument: string, usual: number, most: number): number {
  const given = field.arguments?.find(({ name }) => name.value === argument)?.value;
  if (!given || given.kind === Kind.NULL) return usual;
  return given.kind === Kind.INT ? Math.min(Math.max(Number(given.value), 1), most) : most;
}

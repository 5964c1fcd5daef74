import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  GraphQLError,
  type GraphQLNamedType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  visit,
} from 'graphql';
import { DEFAULT_PAGE, MAX_PAGE } from './connection.ts';

/** Bounds of one document. GraphiQL's introspection query has 240 tokens, the deepest sensible one of ours 6 levels. */
export const DOCUMENT_LIMITS = Object.freeze({
  tokens: 1000,
  depth: 10,
  aliases: 30,
  directives: 20,
  rootFields: 20,
  /** Values in the answer, counting lists by what they may hold: a full page of tasks with all fields is some 6,000. */
  cost: 10_000,
});

/** How many entries a list without `first` is taken to have. */
const LIST_GUESS = 4;

interface Weight {
  depth: number;
  cost: number;
}
const NOTHING: Weight = { depth: 0, cost: 0 };

/**
 * A validation rule: refuses documents that are small to write and dear to answer. Each fragment is weighed once, so
 * that fragments of fragments cannot make the weighing itself dear. Introspection is left to its own rule.
 */
export function limitDocument(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      for (const message of excesses(document, context)) context.reportError(new GraphQLError(message));
      return false;
    },
  };
}

function* excesses(document: DocumentNode, context: ValidationContext): Generator<string> {
  const { aliases, directives, nul } = count(document);
  if (aliases > DOCUMENT_LIMITS.aliases) yield tooMany('aliases', DOCUMENT_LIMITS.aliases);
  if (directives > DOCUMENT_LIMITS.directives) yield tooMany('directives', DOCUMENT_LIMITS.directives);
  if (nul) yield 'A text in the document holds a NUL character or half of a surrogate pair.';

  const scale = new Scale(document, context);
  for (const operation of document.definitions) {
    if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, cost, rootFields } = scale.weigh(operation);
    if (rootFields > DOCUMENT_LIMITS.rootFields) yield tooMany('root fields', DOCUMENT_LIMITS.rootFields);
    if (depth > DOCUMENT_LIMITS.depth) yield `The document is nested deeper than ${DOCUMENT_LIMITS.depth} levels.`;
    if (cost > DOCUMENT_LIMITS.cost) {
      yield `The document asks for up to ${cost} values at once; ${DOCUMENT_LIMITS.cost} are allowed. Ask for fewer fields or smaller pages.`;
    }
  }
}

const tooMany = (what: string, limit: number) => `The document has too many ${what}; ${limit} are allowed.`;

function count(document: DocumentNode): { aliases: number; directives: number; nul: boolean } {
  const counted = { aliases: 0, directives: 0, nul: false };
  visit(document, {
    Field: (field) => void (counted.aliases += field.alias ? 1 : 0),
    Directive: () => void (counted.directives += 1),
    StringValue: ({ value }) => void (counted.nul ||= value.includes('\0') || !value.isWellFormed()),
  });
  return counted;
}

class Scale {
  private readonly fragments: Map<string, FragmentDefinitionNode>;
  private readonly weighed = new Map<string, Weight>();

  constructor(
    document: DocumentNode,
    private readonly context: ValidationContext,
  ) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  weigh(operation: OperationDefinitionNode): Weight & { rootFields: number } {
    const root = this.context.getSchema().getRootType(operation.operation) ?? undefined;
    const names = new Set<string>();
    this.collectNames(operation.selectionSet, names, new Set());
    return { ...this.weightOf(operation.selectionSet, root, false), rootFields: names.size };
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

  /** @param counted whether the page size of the field above already counts the list in here */
  private weightOf(set: SelectionSetNode, type: GraphQLNamedType | undefined, counted: boolean): Weight {
    let { depth, cost } = NOTHING;
    for (const selection of set.selections) {
      const weight =
        selection.kind === Kind.FIELD
          ? this.weightOfField(selection, type, counted)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? this.weightOf(selection.selectionSet, this.conditionOf(selection) ?? type, counted)
            : this.weightOfFragment(selection.name.value, counted);
      depth = Math.max(depth, weight.depth);
      cost += weight.cost;
    }
    return { depth, cost };
  }

  private weightOfField(field: FieldNode, type: GraphQLNamedType | undefined, counted: boolean): Weight {
    if (field.name.value.startsWith('__')) return NOTHING;
    const definition = isObjectType(type) || isInterfaceType(type) ? type.getFields()[field.name.value] : undefined;
    if (!definition || !field.selectionSet) return { depth: 1, cost: 1 };
    const isPage = definition.args.some(({ name }) => name === 'first');
    const isList = isListType(getNullableType(definition.type));
    const times = isPage ? pageSize(field) : isList && !counted ? LIST_GUESS : 1;
    const inside = this.weightOf(field.selectionSet, getNamedType(definition.type), isPage);
    return { depth: 1 + inside.depth, cost: 1 + times * inside.cost };
  }

  private weightOfFragment(name: string, counted: boolean): Weight {
    const key = `${name} ${counted}`;
    const known = this.weighed.get(key);
    if (known) return known;
    const fragment = this.fragments.get(name);
    if (!fragment) return NOTHING;
    this.weighed.set(key, NOTHING); // a fragment within itself is refused by a rule of its own
    const weight = this.weightOf(fragment.selectionSet, this.conditionOf(fragment), counted);
    this.weighed.set(key, weight);
    return weight;
  }

  private conditionOf(node: { typeCondition?: { name: { value: string } } | undefined }): GraphQLNamedType | undefined {
    return node.typeCondition && this.context.getSchema().getType(node.typeCondition.name.value);
  }
}

/** What a variable will hold is not known here, so it counts as the largest page. */
function pageSize(field: FieldNode): number {
  const first = field.arguments?.find(({ name }) => name.value === 'first')?.value;
  if (!first || first.kind === Kind.NULL) return DEFAULT_PAGE;
  return first.kind === Kind.INT ? Math.min(Math.max(Number(first.value), 1), MAX_PAGE) : MAX_PAGE;
}

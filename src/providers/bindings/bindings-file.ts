import { readFileSync } from 'node:fs';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar, type YAMLMap } from 'yaml';
import { MODELS } from '../../models/catalog.ts';
import { type Config, ConfigError } from '../../platform/config.ts';
import { type Binding, completeBinding, PROVIDER_NAMES, type ProviderName } from './binding.ts';

const FIELDS = [
  'provider',
  'model',
  'base_url',
  'credential',
  'concurrency',
  'duration_policy',
  'on_unknown_outcome',
  'price_note', // a note of the operator; the service ignores it
];

/**
 * Reads the PROVIDERS file, YAML or JSON.
 * @returns the bindings of each model in it, in order of preference
 * @throws ConfigError with file, line and value of every fault
 */
export function readBindingsFile(file: string, credentials: Config['credentials']): Map<string, Binding[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`PROVIDERS names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  return new BindingsReader(file, text, credentials).read();
}

class BindingsReader {
  private readonly faults: string[] = [];
  private readonly lines = new LineCounter();

  constructor(
    private readonly file: string,
    private readonly text: string,
    private readonly credentials: Config['credentials'],
  ) {}

  read(): Map<string, Binding[]> {
    const document = parseDocument(this.text, { lineCounter: this.lines });
    for (const { message, pos } of document.errors) this.fault(pos[0], message.split('\n', 1)[0] as string);
    const bindings = this.faults.length > 0 ? new Map<string, Binding[]>() : this.readRoot(document.contents);
    if (this.faults.length > 0) throw new ConfigError(this.faults);
    return bindings;
  }

  private readRoot(root: Node | null): Map<string, Binding[]> {
    const bindings = new Map<string, Binding[]>();
    if (!isMap(root)) {
      this.fault(root?.range?.[0] ?? 0, 'there must be one field, models');
      return bindings;
    }
    for (const [name, value] of this.fieldsOf(root, ['models'])) {
      if (name === 'models' && isMap(value)) {
        for (const [modelId, list] of this.fieldsOf(
          value,
          MODELS.map(({ id }) => id),
          'model',
        )) {
          bindings.set(modelId, this.readList(list));
        }
      } else if (name === 'models') this.fault(this.at(value), 'models must map models to lists of bindings');
    }
    return bindings;
  }

  private readList(list: Node | null): Binding[] {
    if (!isSeq(list) || list.items.length === 0) {
      this.fault(this.at(list), 'a model needs a list of at least one binding');
      return [];
    }
    return list.items.flatMap((item) => {
      if (isMap(item)) return [this.readBinding(item)];
      this.fault(this.at(item as Node), 'a binding must be a map of fields');
      return [];
    });
  }

  private readBinding(map: YAMLMap): Binding {
    const fields = new Map(this.fieldsOf(map, FIELDS));
    const text = (name: string) => this.scalar(fields, name, 'string') as string | undefined;
    const provider = this.oneOf(fields, 'provider', PROVIDER_NAMES) as ProviderName | undefined;
    const model = text('model');
    if (!fields.has('provider')) this.fault(this.at(map), 'a binding needs a provider');
    if (model === undefined && !fields.has('model') && provider !== 'sandbox') {
      this.fault(this.at(map), "a binding needs a model, the provider's own name of it");
    }
    const baseUrl = text('base_url');
    if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      this.fault(this.at(fields.get('base_url') ?? null), `base_url "${baseUrl}" is no http(s) address`);
    }
    const concurrency = this.scalar(fields, 'concurrency', 'number') as number | undefined;
    if (concurrency !== undefined && (!Number.isInteger(concurrency) || concurrency < 1)) {
      this.fault(
        this.at(fields.get('concurrency') ?? null),
        `concurrency ${concurrency} must be a whole number from 1`,
      );
    }
    text('price_note');
    return completeBinding(
      {
        provider: provider ?? 'sandbox',
        model: model ?? '',
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(fields.has('credential') ? { credential: text('credential') ?? null } : {}),
        concurrency: concurrency ?? null,
        durationPolicy: this.oneOf(fields, 'duration_policy', ['exact', 'nearest']) as Binding['durationPolicy'],
        onUnknownOutcome: this.oneOf(fields, 'on_unknown_outcome', ['fail', 'resubmit']) as 'fail' | 'resubmit',
      },
      this.credentials,
    );
  }

  private fieldsOf(map: YAMLMap, known: readonly string[], what = 'field'): [string, Node | null][] {
    return map.items.map((pair) => {
      const key = pair.key as Scalar;
      const name = String(key.value);
      if (!known.includes(name)) this.fault(this.at(key), `unknown ${what} "${name}"; known are ${known.join(', ')}`);
      return [name, pair.value as Node | null];
    });
  }

  private scalar(fields: Map<string, Node | null>, name: string, type: 'string' | 'number'): unknown {
    if (!fields.has(name)) return undefined;
    const node = fields.get(name) ?? null;
    if (name === 'credential' && (node === null || (isScalar(node) && node.value === null))) return null;
    if (isScalar(node) && typeof node.value === type && node.value !== '') return node.value;
    this.fault(this.at(node), `${name} must be a ${type}`);
    return undefined;
  }

  private oneOf(fields: Map<string, Node | null>, name: string, allowed: readonly string[]): string | undefined {
    const value = this.scalar(fields, name, 'string') as string | undefined;
    if (value === undefined || allowed.includes(value)) return value;
    this.fault(this.at(fields.get(name) ?? null), `unknown ${name} "${value}"; known are ${allowed.join(', ')}`);
    return undefined;
  }

  private at(node: Node | null): number {
    return node?.range?.[0] ?? 0;
  }

  private fault(offset: number, message: string): void {
    this.faults.push(`${this.file}, line ${this.lines.linePos(offset).line || 1}: ${message}`);
  }
}

import { isMap, isSeq, LineCounter, type Node, parseDocument, type Scalar, type YAMLMap } from 'yaml';
import { catalog } from '../../models/catalog.ts';
import { type Config, ConfigError } from '../../platform/config/config.ts';
import { readTextFile } from '../../platform/config/text-file.ts';
import { loadTemplate } from '../comfyui/load-template.ts';
import { type Binding, completeBinding, PROVIDER_NAMES, type ProviderName } from './binding.ts';
import type { Price } from './price.ts';
import { PricesReader } from './prices-reader.ts';
import { YamlFields } from './yaml-fields.ts';

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

export interface BindingsFile {
  /** The bindings of each model in the file, in order of preference. */
  bindings: Map<string, Binding[]>;
  /** ISO 4217. */
  currency: string;
  /** The first price that fits a request counts. */
  prices: readonly Price[];
}

type Given = Pick<Config, 'providersFile' | 'credentials' | 'secretOf'>;

const NO_FILE: BindingsFile = { bindings: new Map(), currency: 'USD', prices: [] };

/**
 * Reads the PROVIDERS file, YAML or JSON, and the files that it names.
 * @throws ConfigError with file, line and value of every fault
 */
export function readBindings(config: Given): BindingsFile {
  const { providersFile: file } = config;
  if (file === null) return NO_FILE;
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new ConfigError([`PROVIDERS names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  return new BindingsReader(file, text, config).read();
}

class BindingsReader {
  private readonly lines = new LineCounter();
  private readonly yaml: YamlFields;

  constructor(
    file: string,
    private readonly text: string,
    private readonly config: Given,
  ) {
    this.yaml = new YamlFields(file, this.lines);
  }

  read(): BindingsFile {
    const document = parseDocument(this.text, { lineCounter: this.lines });
    for (const { message, pos } of document.errors) this.yaml.fault(pos[0], message.split('\n', 1)[0] as string);
    const contents = this.yaml.faults.length > 0 ? NO_FILE : this.readRoot(document.contents);
    if (this.yaml.faults.length > 0) throw new ConfigError(this.yaml.faults);
    return contents;
  }

  private readRoot(root: Node | null): BindingsFile {
    if (!isMap(root)) {
      this.yaml.fault(root?.range?.[0] ?? 0, 'there must be the field models, prices or both');
      return NO_FILE;
    }
    const fields = new Map(this.yaml.fieldsOf(root, ['models', 'currency', 'prices']));
    const read = new PricesReader(this.yaml);
    const given = <Value>(name: string, from: (node: Node | null) => Value, otherwise: Value): Value =>
      fields.has(name) ? from(fields.get(name) ?? null) : otherwise;
    return {
      bindings: given('models', (node) => this.readModels(node), NO_FILE.bindings),
      currency: given('currency', (node) => read.currency(node), NO_FILE.currency),
      prices: given('prices', (node) => read.prices(node), NO_FILE.prices),
    };
  }

  private readModels(models: Node | null): Map<string, Binding[]> {
    const ids = catalog.shipped.map(({ id }) => id);
    if (isMap(models)) {
      for (const { key } of models.items) this.refuseDeclared(key as Scalar);
      const fields = this.yaml.fieldsOf(models, ids, 'model', (id) => catalog.find(id) !== undefined);
      return new Map(fields.map(([id, list]) => [id, this.readList(id, list)]));
    }
    this.yaml.fault(this.yaml.at(models), 'models must map models to lists of bindings');
    return new Map();
  }

  /** Adds a fault if the operator declares this model in a file. That file also contains its bindings. */
  private refuseDeclared(key: Scalar): void {
    const model = catalog.find(String(key.value));
    if (model?.declared) this.yaml.fault(this.yaml.at(key), `declared in ${model.file}; put its bindings there`);
  }

  private readList(modelId: string, list: Node | null): Binding[] {
    if (!isSeq(list) || list.items.length === 0) {
      this.yaml.fault(this.yaml.at(list), 'a model needs a list of at least one binding');
      return [];
    }
    return list.items.flatMap((item) => {
      if (isMap(item)) return [this.readBinding(modelId, item)];
      this.yaml.fault(this.yaml.at(item as Node), 'a binding must be a map of fields');
      return [];
    });
  }

  private readBinding(modelId: string, map: YAMLMap): Binding {
    const fields = new Map(this.yaml.fieldsOf(map, FIELDS));
    const text = (name: string) => this.yaml.scalar(fields, name, 'string') as string | undefined;
    const provider = this.yaml.oneOf(fields, 'provider', PROVIDER_NAMES) as ProviderName | undefined;
    const model = text('model');
    if (!fields.has('provider')) this.yaml.fault(this.yaml.at(map), 'a binding needs a provider');
    if (model === undefined && !fields.has('model') && provider !== 'sandbox') {
      this.yaml.fault(this.yaml.at(map), "a binding needs a model, the provider's own name of it");
    }
    if (provider === 'comfyui' && model !== undefined) this.checkWorkflow(model, modelId, fields.get('model') ?? null);
    const baseUrl = text('base_url');
    if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      this.yaml.fault(this.yaml.at(fields.get('base_url') ?? null), `base_url "${baseUrl}" is no http(s) address`);
    }
    const concurrency = this.yaml.scalar(fields, 'concurrency', 'number') as number | undefined;
    if (concurrency !== undefined && (!Number.isInteger(concurrency) || concurrency < 1)) {
      this.yaml.fault(
        this.yaml.at(fields.get('concurrency') ?? null),
        `concurrency ${concurrency} must be a whole number from 1`,
      );
    }
    text('price_note');
    const credential = text('credential');
    if (credential !== undefined) this.checkCredential(credential, fields.get('credential') ?? null);
    return completeBinding(
      {
        provider: provider ?? 'sandbox',
        model: model ?? '',
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(fields.has('credential') ? { credential: credential ?? null } : {}),
        concurrency: concurrency ?? null,
        durationPolicy: this.yaml.oneOf(fields, 'duration_policy', ['exact', 'nearest']) as Binding['durationPolicy'],
        onUnknownOutcome: this.yaml.oneOf(fields, 'on_unknown_outcome', ['fail', 'resubmit']) as 'fail' | 'resubmit',
      },
      this.config.credentials,
    );
  }

  /**
   * Adds a fault if both the variable and its `_FILE` form are set, or if that file is empty or cannot be read. The
   * variable may be unset.
   */
  private checkCredential(variable: string, node: Node | null): void {
    try {
      this.config.secretOf(variable);
    } catch (error) {
      this.yaml.fault(this.yaml.at(node), (error as Error).message);
    }
  }

  private checkWorkflow(name: string, modelId: string, node: Node | null): void {
    try {
      loadTemplate(name, modelId);
    } catch (error) {
      this.yaml.fault(this.yaml.at(node), `${modelId} cannot be served: ${(error as Error).message}`);
    }
  }
}

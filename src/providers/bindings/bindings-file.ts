import { catalog } from '../../models/catalog.ts';
import { YamlFile } from '../../models/declaration/yaml-file.ts';
import { type Config, ConfigError } from '../../platform/config/config.ts';
import { readTextFile } from '../../platform/config/text-file.ts';
import { loadTemplate } from '../comfyui/load-template.ts';
import { type Binding, completeBinding, PROVIDER_NAMES, type ProviderName } from './binding.ts';
import type { Price } from './price.ts';
import { PricesReader } from './prices-reader.ts';
import { type Fields, isMap, YamlFields } from './yaml-fields.ts';

/** The most names and values. Lists of prices may have thousands of rows. */
const MAX_PARTS = 100_000;

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
 * @throws ConfigError with file, line and value of each of the first 50 faults
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
  const yaml = new YamlFile(file, Buffer.from(text), MAX_PARTS);
  const contents = yaml.faults.length > 0 ? NO_FILE : new BindingsReader(yaml, config).read();
  if (yaml.faults.length === 0) return contents;
  throw new ConfigError(yaml.faults.map(({ line, message }) => `${file}, line ${line}: ${message}`));
}

class BindingsReader {
  constructor(
    private readonly file: YamlFile,
    private readonly config: Given,
  ) {}

  read(): BindingsFile {
    const root = this.file.value;
    if (!isMap(root)) {
      this.file.fault([], 'there must be the field models, prices or both');
      return NO_FILE;
    }
    const fields = new YamlFields(this.file, [], root);
    fields.refuseUnknown(['models', 'currency', 'prices']);
    const prices = new PricesReader(this.file);
    return {
      bindings: fields.has('models') ? this.readModels(root.models) : NO_FILE.bindings,
      currency: fields.has('currency') ? prices.currency(root.currency) : NO_FILE.currency,
      prices: fields.has('prices') ? prices.prices(root.prices) : NO_FILE.prices,
    };
  }

  private readModels(models: unknown): Map<string, Binding[]> {
    if (!isMap(models)) {
      this.file.fault(['models'], 'models must map models to lists of bindings');
      return new Map();
    }
    for (const id of Object.keys(models)) this.refuseDeclared(id);
    const ids = catalog.shipped.map(({ id }) => id);
    new YamlFields(this.file, ['models'], models).refuseUnknown(ids, 'model', (id) => catalog.find(id) !== undefined);
    return new Map(Object.entries(models).map(([id, list]) => [id, this.readList(id, list)]));
  }

  /** Adds a fault if the operator declares this model in a file. That file also contains its bindings. */
  private refuseDeclared(id: string): void {
    const model = catalog.find(id);
    if (model?.declared) this.file.fault(['models', id], `declared in ${model.file}; put its bindings there`, 'key');
  }

  private readList(modelId: string, list: unknown): Binding[] {
    if (!Array.isArray(list) || list.length === 0) {
      this.file.fault(['models', modelId], 'a model needs a list of at least one binding');
      return [];
    }
    return list.flatMap((item, at) => {
      if (isMap(item)) return [this.readBinding(modelId, at, item)];
      this.file.fault(['models', modelId, at], 'a binding must be a map of fields');
      return [];
    });
  }

  private readBinding(modelId: string, at: number, values: Fields): Binding {
    const fields = new YamlFields(this.file, ['models', modelId, at], values);
    fields.refuseUnknown(FIELDS);
    const text = (name: string) => fields.scalar(name, 'string') as string | undefined;
    const provider = fields.oneOf('provider', PROVIDER_NAMES) as ProviderName | undefined;
    const model = text('model');
    if (!fields.has('provider')) fields.fault(null, 'a binding needs a provider');
    if (model === undefined && !fields.has('model') && provider !== 'sandbox') {
      fields.fault(null, "a binding needs a model, the provider's own name of it");
    }
    if (provider === 'comfyui' && model !== undefined) checkWorkflow(fields, model, modelId);
    const baseUrl = text('base_url');
    if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      fields.fault('base_url', `base_url "${baseUrl}" is no http(s) address`);
    }
    const concurrency = fields.scalar('concurrency', 'number') as number | undefined;
    if (concurrency !== undefined && (!Number.isInteger(concurrency) || concurrency < 1)) {
      fields.fault('concurrency', `concurrency ${concurrency} must be a whole number from 1`);
    }
    text('price_note');
    const credential = text('credential');
    if (typeof credential === 'string') this.checkCredential(fields, credential);
    return completeBinding(
      {
        provider: provider ?? 'sandbox',
        model: model ?? '',
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(fields.has('credential') ? { credential: credential ?? null } : {}),
        concurrency: concurrency ?? null,
        durationPolicy: fields.oneOf('duration_policy', ['exact', 'nearest']) as Binding['durationPolicy'],
        onUnknownOutcome: fields.oneOf('on_unknown_outcome', ['fail', 'resubmit']) as 'fail' | 'resubmit',
      },
      this.config.credentials,
    );
  }

  /**
   * Adds a fault if both the variable and its `_FILE` form are set, or if that file is empty or cannot be read. The
   * variable may be unset.
   */
  private checkCredential(fields: YamlFields, variable: string): void {
    try {
      this.config.secretOf(variable);
    } catch (error) {
      fields.fault('credential', (error as Error).message);
    }
  }
}

function checkWorkflow(fields: YamlFields, name: string, modelId: string): void {
  try {
    loadTemplate(name, modelId);
  } catch (error) {
    fields.fault('model', `${modelId} cannot be served: ${(error as Error).message}`);
  }
}

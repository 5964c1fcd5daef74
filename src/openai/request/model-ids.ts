import { Injectable } from '@nestjs/common';
import { mayUse } from '../../auth/access/allowed-models.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { catalog, findModel, perSet } from '../../models/catalog.ts';
import { ModelAvailability } from '../../models/model-availability.ts';
import { DEFAULT_MODEL } from '../../models/definition/default-model.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import { Config, ConfigError } from '../../platform/config/config.ts';
import { readPairs } from '../../platform/config/setting-types.ts';
import { OPENAI_ALIASES } from '../../platform/config/settings.ts';
import { echo, type Fields } from './fields.ts';
import type { Translation } from './translation.ts';

const ROUTE = { image: 'POST /v1/images/generations', video: 'POST /v1/videos' } as const;

/** Reads the field `model` into the translation. @throws ApiError model_not_found, invalid_value, invalid_type */
export type ReadModel = (fields: Fields, kind: MediaKind, translation: Translation) => Model;

/** The model ids of the OpenAI-compatible routes: those of this service, and the operator's aliases. */
@Injectable()
export class ModelIds {
  /** The aliases in OPENAI_MODEL_ALIASES. The declarations of models add further ones. */
  private readonly configured: ReadonlyMap<string, string>;
  private readonly declared = perSet(() => new Map(catalog.models.flatMap(aliasesOf)));

  /** @throws ConfigError for an alias of an unknown model, unless the setting has its default */
  constructor(
    { openaiModelAliases }: Config,
    private readonly availability: ModelAvailability,
  ) {
    this.configured = readPairs(openaiModelAliases);
    const faults = [...this.configured.values()].filter((id) => !findModel(id));
    if (faults.length > 0 && openaiModelAliases !== OPENAI_ALIASES)
      throw new ConfigError(faults.map((id) => `OPENAI_MODEL_ALIASES names ${id}, an unknown model`));
  }

  /**
   * Returns a reader whose errors name only models that the caller may use. Whether the caller may use the requested
   * model is checked later, when the task is created.
   */
  of(caller: Caller): ReadModel {
    return (fields, kind, translation) => this.read(caller, fields, kind, translation);
  }

  private read(caller: Caller, fields: Fields, kind: MediaKind, { body, approximations }: Translation): Model {
    const given = fields.text('model') ?? DEFAULT_MODEL[kind];
    const alias = this.configured.get(given) ?? this.declared().get(given);
    const model = findModel(alias ?? given);
    if (!model) {
      throw new ApiError('model_not_found', {
        status: 400,
        param: 'model',
        message: `There is no model ${echo(given)} here. The models for this route are ${this.idsOf(caller, kind).join(', ')}.`,
      });
    }
    if (model.kind !== kind) {
      const message = `${model.id} makes ${model.kind}s: use ${ROUTE[model.kind]}.`;
      throw new ApiError('invalid_value', { param: 'model', message });
    }
    if (alias !== undefined) approximations.push({ param: 'model', requested: given, used: model.id });
    body.model = model.id;
    // If the provider that comes first takes no exact size, the nearest size of the table is used.
    return this.availability.takes(model.id, 'size') ? model : { ...model, pixels: null };
  }

  private idsOf(caller: Caller, kind: MediaKind): string[] {
    const models = catalog.models.filter((model) => model.kind === kind && mayUse(caller, model));
    const ours = models.map(({ id }) => id);
    const aliases = [...this.configured, ...this.declared()];
    return [...ours, ...aliases.filter(([, id]) => ours.includes(id)).map(([alias]) => alias)];
  }
}

const aliasesOf = ({ id, aliases }: Model): [string, string][] => aliases.map((alias) => [alias, id]);

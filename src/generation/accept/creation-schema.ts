import { catalog } from '../../models/catalog.ts';
import type { Model } from '../../models/definition/model.ts';
import { COMPONENT, refTo } from '../../platform/schema/component.ts';

/** `gpt-image-2` is `GptImage2Request`. */
const nameOf = ({ id }: Model): string =>
  `${id.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Request`;

/** A creation in OpenAPI: one schema a model, which the field `model` tells apart. */
export const CREATION_SCHEMA = {
  [COMPONENT]: 'GenerationRequest',
  oneOf: catalog.shipped.map((model) => {
    const { $schema: _, title: _title, ...schema } = model.parameters; // some generators name types after titles
    return { [COMPONENT]: nameOf(model), ...schema };
  }),
  discriminator: {
    propertyName: 'model',
    mapping: Object.fromEntries(catalog.shipped.map((model) => [model.id, refTo(nameOf(model)).$ref])),
  },
} as object;

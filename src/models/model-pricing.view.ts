import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';

export const PRICE_UNITS = ['task', 'image', 'second', 'million_input_tokens', 'million_output_tokens'] as const;
export type PriceUnit = (typeof PRICE_UNITS)[number];
const UnitChoice = defineChoice('PriceUnit', PRICE_UNITS, 'The unit that a price is for.');

@ObjectType('ModelPrice', { description: 'A price of a model.' })
export class ModelPriceView {
  @ApiField.string('only for this resolution; any when left out', { optional: true }) resolution?: string;
  @ApiField.string('only for this quality; any when left out', { optional: true }) quality?: string;
  @ApiField.oneOf(UnitChoice, 'the unit that the amount is for: a task, an image, a second or a million tokens')
  unit: PriceUnit;
  @ApiField.long('micro-units: 1,000,000 are 1 of the currency') amount_micros: number;
}

@ObjectType('ModelPricing', { description: "The operator's prices of a model." })
export class ModelPricingView {
  @ApiField.string('ISO 4217', { example: 'USD' }) currency: string;
  @ApiField.list(() => ModelPriceView, 'the prices; if several rows for the same unit fit, the first one counts')
  rows: ModelPriceView[];
}

import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';

export const MAX_REASON = 500;

/** Why an operator changes something. The audit keeps the reason. */
export class ReasonInput {
  @ApiField.string('why, for other operators', { ...OMITTABLE, min: 1, max: MAX_REASON }) reason?: string | null;
}

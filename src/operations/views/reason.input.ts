import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';

export const MAX_REASON = 500;

/** What an operator may say of any act. The audit keeps it. */
export class ReasonInput {
  @ApiField.string('why, for other operators', { ...OMITTABLE, min: 1, max: MAX_REASON }) reason?: string | null;
}

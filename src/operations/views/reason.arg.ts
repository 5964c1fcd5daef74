import { Args } from '@nestjs/graphql';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { MAX_REASON, ReasonInput } from './reason.input.ts';

const check = { transform: (reason: unknown) => checkArguments(ReasonInput, { reason }).reason };

/** The argument `reason` of an operator's mutation. */
export const Reason = (): ParameterDecorator =>
  Args(
    'reason',
    {
      type: () => String,
      nullable: true,
      description: `why, for other operators, 1 to ${MAX_REASON} characters; none when left out`,
    },
    check,
  );

import { applyDecorators } from '@nestjs/common';
import { IsInt, Max, Min, ValidateIf } from 'class-validator';
import { Transform } from 'class-transformer';

/** The field may be left out. `null` is not the same as left out, and is refused where class-validator's IsOptional lets it pass. */
export function Optional(): PropertyDecorator {
  return ValidateIf((_input, value) => value !== undefined);
}

/** Digits only: "1.5", "1e3", " 1" and "" stay texts, and fail as such. */
const WHOLE_NUMBER = /^-?[0-9]{1,15}$/;

/** A whole number in a query string, where everything arrives as text. */
export function QueryInt(min: number, max: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value,
    ),
    IsInt(),
    Min(min),
    Max(max),
  );
}

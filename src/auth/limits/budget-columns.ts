/** SQL fragments over a row `b` of `key_budgets`, for the statements of several modules. */

/** The UTC day of the statement. */
export const TODAY = `(now() at time zone 'utc')::date`;

const monthOf = (day: string): string => `date_trunc('month', ${day})::date`;

/** Whether the row's month is the month of `day`. */
export const inMonthOf = (day: string): string => `${monthOf('b.day')} = ${monthOf(day)}`;

/** What is `spent` or `reserved` in the budget's period that contains `day`. */
export const inPeriod = (number: 'spent' | 'reserved', day: string): string => `
        case b.period when 'day' then case when b.day = ${day} then b.day_${number} else 0 end
                      when 'month' then case when ${inMonthOf(day)} then b.month_${number} else 0 end
                      else b.total_${number} end`;

/** First day of the budget's period that contains `day`. */
export const firstDay = (day: string): string =>
  `case b.period when 'day' then ${day} when 'month' then ${monthOf(day)} else date '1970-01-01' end`;

/** The day after the last day of the budget's period that contains `day`; null: the period has no end. */
export const dayAfter = (day: string): string =>
  `case b.period when 'day' then ${day} + 1 when 'month' then (${monthOf(day)} + interval '1 month')::date end`;

/** The time at which a UTC day begins. */
export const startOf = (day: string): string => `(${day})::timestamp at time zone 'utc'`;

/**
 * Assignments that move the row to `day`, which must not be before the row's own day. `day_spent` starts again at 0 on
 * another day, `month_spent` in another month.
 */
export const rolledTo = (day: string): string => `
      day = ${day}, day_spent = case when b.day = ${day} then b.day_spent else 0 end,
      month_spent = case when ${inMonthOf(day)} then b.month_spent else 0 end`;
/** Assignments like those of `rolledTo`, but for the reserved amounts. They also add `more` to each amount. */
export const reservedBy = (day: string, more: string): string => `
      day_reserved = case when b.day = ${day} then b.day_reserved else 0 end + ${more},
      month_reserved = case when ${inMonthOf(day)} then b.month_reserved else 0 end + ${more},
      total_reserved = b.total_reserved + ${more}`;

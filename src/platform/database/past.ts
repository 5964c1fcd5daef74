import { type FindOperator, Raw } from 'typeorm';

/** Compared with the database's clock, because the clocks of processes differ. */
export const isPast = (): FindOperator<Date> => Raw((column) => `${column} <= now()`);
/** Compared with the database's clock. */
export const isAhead = (): FindOperator<Date> => Raw((column) => `${column} > now()`);

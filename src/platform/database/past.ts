import { type FindOperator, Raw } from 'typeorm';

/** Compares with the clock of the database, because the clocks of processes differ. */
export const isPast = (): FindOperator<Date> => Raw((column) => `${column} <= now()`);
/** Compares with the clock of the database. */
export const isAhead = (): FindOperator<Date> => Raw((column) => `${column} > now()`);

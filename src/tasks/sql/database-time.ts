import { type FindOperator, Raw } from 'typeorm';

/** Compares with the database's clock, because the clocks of processes differ. */
export const inThePast = (): FindOperator<Date> => Raw((column) => `${column} < now()`);

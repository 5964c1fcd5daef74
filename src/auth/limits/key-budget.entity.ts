import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BudgetPeriod } from './budget.ts';

/**
 * What the tasks of an API key have spent and reserved, in micro-units. A key has a row from its first budget on. The
 * numbers of the day and of the month belong to `day`, in UTC. They start again at 0 with the first creation or budget
 * change of a later day or month. The numbers of all three periods are kept, so that another period can be chosen for
 * the budget at any time.
 */
@Entity('key_budgets')
export class KeyBudget {
  @PrimaryColumn('text') api_key_id: string;
  /** null: the key has no budget any more. */
  @Column('bigint', { nullable: true }) amount_micros: string | null;
  @Column('text', { nullable: true }) period: BudgetPeriod | null;
  @Column('smallint', { nullable: true }) soft_percent: number | null;
  @Column('date') day: string;
  @Column('bigint') day_spent: string;
  @Column('bigint') day_reserved: string;
  @Column('bigint') month_spent: string;
  @Column('bigint') month_reserved: string;
  @Column('bigint') total_spent: string;
  @Column('bigint') total_reserved: string;
  /**
   * First day of the latest period in which the soft threshold was reported. null: it was not reported since the budget
   * was set.
   */
  @Column('date', { nullable: true }) threshold_of: string | null;
  /**
   * First day of the latest period in which a refusal was reported. null: none was reported since the budget was set.
   */
  @Column('date', { nullable: true }) exceeded_of: string | null;
}

/**
 * Fragments of the statement that ends tasks: the cost, and the row of the ledger. Clients wait for little of the work
 * on a task. Of the rest, the end costs the most. So the statement only adds up numbers that are known before. The
 * worker has computed the cost of a success, and the intent to submit has fixed every other amount in `tasks.price`.
 */

/**
 * Columns of the JSON of an ending: its `Charge` and the resolution. Reading the resolution from the input instead
 * would parse the prompt.
 */
export const CHARGE_COLUMNS = `usage json, provider text, rule text, micros bigint, basis text, images int,
        video_seconds int, resolution text`;
/** The columns of CHARGE_COLUMNS, under names that no column of the task has. */
export const CHARGE_NAMES =
  'w.usage, w.provider as charged_provider, w.rule, w.micros, w.basis, w.images, w.video_seconds, w.resolution';

const SUBMITTED = 'g.submitted_at is not null';

/**
 * SQL: the charged amount, joined to the task `g` with the columns of its ending. null if the price of the task lacks
 * this amount.
 */
export const CHARGED = `lateral (select case when g.rule is null then g.micros when ${SUBMITTED} then (g.price->>g.rule)::bigint
                              else 0 end as full_micros) c`;

const BASIS = `case when g.rule is null then g.basis when not (${SUBMITTED}) then 'free' when c.full_micros is null then 'unpriced'
             else g.basis end`;

/**
 * SQL: the columns of the cost, over `g` and `c`. Earlier calls of the task whose answer was lost are added, because
 * they may have been charged too.
 */
export const CHARGES = `g.rule is null and g.lost_submits = 0 as is_complete,
        coalesce(g.resolution, g.input->>'resolution') as made_resolution,
        coalesce(g.charged_provider, case when ${SUBMITTED} then g.provider end) as served_by,
        coalesce(c.full_micros, 0) + g.lost_micros as cost_micros,
        case when g.lost_submits > 0 and (g.lost_micros > 0 or ${BASIS} <> 'unpriced') then 'assumed' else ${BASIS} end as cost_basis`;

/**
 * SQL: the value of `tasks_done.usage`, over the row `h` with the columns of the cost.
 * @param currency a parameter, such as `$4`
 */
export const usageJson = (currency: string): string => `case when h.is_complete and h.usage is not null then h.usage
          else json_build_object(
          'provider', h.served_by, 'input_tokens', h.usage->'input_tokens', 'output_tokens', h.usage->'output_tokens',
          'cost_micros', h.cost_micros, 'currency', ${currency}::text, 'basis', h.cost_basis) end`;

/** Columns that are returned with an ended task, for the ledger. */
export const LEDGER_COLUMNS = 'h.served_by, h.made_resolution, h.images, h.video_seconds, h.cost_micros, h.cost_basis';

/**
 * Inserts a row of the ledger for each task that the statement ends. A task ends once, so the ledger has no row of it
 * yet. The one exception is a restore of only one of the two tables; the row that exists then must not keep the task
 * from ending.
 */
export const LEDGER = `
    ledger as (
      insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, provider, resolution, source, batch_id,
                                metadata, images, video_seconds, submits, cost_micros, basis, error_code)
      select id, api_key_id, completed_at,
             case when status = 'failed' and error->>'code' = 'task_cancelled' then 'cancelled' else status end, kind, model,
             served_by, made_resolution, source, batch_id, nullif(metadata, '{}'), images, video_seconds, submits, cost_micros, cost_basis,
             case when status = 'failed' then nullif(error->>'code', 'task_cancelled') end
      from ended
      on conflict (task_id) do nothing
    )`;

/**
 * SQL over a row `l` of `key_load`: how many more tasks may run under the limits of the keys above. A key above shares
 * such a limit with all keys below it. The result is the lowest number among the keys above; null if none has such a
 * limit.
 */
const FREE_ABOVE = `(
        select min(a.shared_running - a.running + a.held - a.below_running) from key_load a where a.api_key_id = any(l.above) and a.shared_running > 0)`;

/** SQL over a row `l` of `key_load`: how many more tasks the key may run now, from 0 to 1,000. */
export const FREE_PLACES = `greatest(least(1000, case when l.max_running > 0 then l.max_running - l.running + l.held end,
                               case when l.shared_running > 0 then l.shared_running - l.running + l.held - l.below_running end,
                               ${FREE_ABOVE}), 0)`;

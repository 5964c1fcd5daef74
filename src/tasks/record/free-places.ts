/** SQL over a row `l` of `key_load`: it runs as many tasks as it may, or a key above it does. */
const IS_FULL_ABOVE = `exists (
        select from key_load a where a.api_key_id = any(l.above) and a.shared_running > 0 and a.running - a.held + a.below_running >= a.shared_running)`;

/** SQL over a row `l` of `key_load`: how many more tasks the key may run now. */
export const FREE_PLACES = `case when ${IS_FULL_ABOVE} then 0
             else greatest(least(1000, case when l.max_running > 0 then l.max_running - l.running + l.held end,
                                 case when l.shared_running > 0 then l.shared_running - l.running + l.held - l.below_running end), 0) end`;

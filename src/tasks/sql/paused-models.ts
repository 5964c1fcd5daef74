import { IN_FORCE } from '../record/pause.entity.ts';

/** SQL: the models that are paused, each with the pause that holds its tasks. Few rows, from an index of few rows. */
export const PAUSED_MODELS = `
    select distinct on (m.model) m.model, p.id as pause_id
    from pauses p, unnest(p.models) m(model) where ${IN_FORCE} order by m.model, p.id`;

/** SQL: whether a task is parked because of a limit, and not because of a pause. */
export const HELD_BY_LIMIT = 'parked and paused_by is null';

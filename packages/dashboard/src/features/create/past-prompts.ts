import { useQuery } from '../../live/use-query.ts';
import { PastPrompts } from './create.documents.ts';
import type { Run } from './runs.ts';

export interface PastPrompt {
  prompt: string;
  model: string;
  /** Unix seconds. */
  at: number;
}

/** The prompts of the newest tasks of this key, newest first, each once. They include what this tab has just sent. */
export function usePastPrompts(runs: readonly Run[], mayRead: boolean): readonly PastPrompt[] {
  const { data } = useQuery(PastPrompts, mayRead ? {} : null);
  const sent = runs.map(({ request, at }): PastPrompt => ({ prompt: request.prompt, model: request.model, at }));
  const known = (data?.tasks.edges ?? []).map(({ node }): PastPrompt => ({
    prompt: String((node.input as { prompt?: unknown }).prompt ?? ''),
    model: node.model,
    at: node.createdAt,
  }));
  const all = [...sent, ...known].filter(({ prompt }) => prompt !== '').toSorted((a, b) => b.at - a.at);
  return all.filter(({ prompt }, place) => all.findIndex((each) => each.prompt === prompt) === place);
}

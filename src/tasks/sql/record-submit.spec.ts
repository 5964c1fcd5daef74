import type { Submission } from '../record/submission.ts';
import { RecordSubmit } from './record-submit.ts';

type Parts = ConstructorParameters<typeof RecordSubmit>;

it('commits the intent of the claim that holds the task, and of no late claim in the same batch', async () => {
  const sent: unknown[][] = [];
  const run = async (_: unknown, values: unknown[]) => {
    sent.push(values);
    return [{ id: 'task', attempt: 2 }];
  };
  const submits = new RecordSubmit({ run } as unknown as Parts[0], {} as Parts[1]);
  const submission = { concurrency: null, approximations: [] } as unknown as Submission;
  const intents = [1, 2].map((attempt) => submits.intent({ id: 'task', attempt }, submission, null));
  expect(await Promise.all(intents)).toEqual(['lost', 'committed']);
  expect(sent).toHaveLength(1);
});

import type { ShownTask } from '../../tasks/record/task.entity.ts';
import type { Tokens } from '../../tasks/record/task-usage.ts';

/** The `usage` of OpenAI's image answers. */
export interface ImageUsage {
  input_tokens: number;
  input_tokens_details: { image_tokens: number; text_tokens: number };
  output_tokens: number;
  total_tokens: number;
}

/** The usage of finished pictures whose tokens are unknown. Clients expect `usage` in each `completed` event. */
export const NO_USAGE: ImageUsage = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
};

/** The tokens that the provider reported for all pictures of a task. @returns null when it reported none */
export function imageUsageOf({ usage, input }: Pick<ShownTask, 'usage' | 'input'>): ImageUsage | null {
  if (!usage || usage.output_tokens === null) return null;
  const tokens = { input: usage.input_tokens ?? 0, output: usage.output_tokens };
  const hasImages = Array.isArray(input.reference_images) && input.reference_images.length > 0;
  return {
    input_tokens: tokens.input,
    input_tokens_details: detailsOf(tokens, hasImages),
    output_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  };
}

/** With images, the shares of text and images in the input tokens are unknown. Then both shares are zero. */
const detailsOf = ({ input }: Tokens, hasImages: boolean) =>
  hasImages ? NO_USAGE.input_tokens_details : { image_tokens: 0, text_tokens: input };

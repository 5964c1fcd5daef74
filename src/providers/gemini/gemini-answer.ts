import type { GenerateContentResponse } from '@google/genai';
import type { Tokens } from '../../tasks/record/task-usage.ts';
import { ProviderError } from '../contract/provider.ts';
import { reportedTokens } from '../wire/reported-tokens.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import type { EmbeddedPictures } from '../wire/embedded-pictures.ts';
import type { WatchedCall } from '../wire/watched-call.ts';
import { requestIdOf } from '../wire/without-answer.ts';

/** Finish reasons that mean a refusal of the prompt or the picture. */
const CONTENT_POLICY = new Set([
  'SAFETY',
  'IMAGE_SAFETY',
  'PROHIBITED_CONTENT',
  'IMAGE_PROHIBITED_CONTENT',
  'BLOCKLIST',
  'SPII',
  'RECITATION',
  'IMAGE_RECITATION',
]);

/** The model replied without a picture, but a retry may succeed. */
export class NoPicture extends ProviderError {}

/** The billed tokens; null if the answer does not report them. Thoughts are billed as output. */
export function tokensOf({ usageMetadata }: GenerateContentResponse): Tokens | null {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata ?? {};
  const tokens = reportedTokens(promptTokenCount, candidatesTokenCount);
  return tokens && { ...tokens, output: tokens.output + (thoughtsTokenCount ?? 0) };
}

/**
 * @throws ProviderError when the prompt or the picture was refused, NoPicture when there is no picture for another
 *   reason
 */
export function pictureOf(
  answer: GenerateContentResponse,
  { watched, pictures }: { watched: WatchedCall; pictures: EmbeddedPictures },
): Buffer {
  const candidate = answer.candidates?.[0];
  for (const { thought, inlineData } of candidate?.content?.parts ?? []) {
    if (thought || !inlineData?.data || !inlineData.mimeType?.startsWith('image/')) continue; // thoughts contain drafts
    const bytes = pictures.bytesOf(inlineData.data);
    if (bytes?.length) return bytes;
  }
  const blocked = answer.promptFeedback?.blockReason;
  const reason: string = blocked ?? candidate?.finishReason ?? 'no candidate';
  const message = answer.promptFeedback?.blockReasonMessage ?? candidate?.finishMessage;
  const facts = {
    status: watched.status ?? 200,
    code: reason,
    requestId: answer.responseId ?? requestIdOf(watched),
    message,
  };
  const cause = operatorCause('gemini', null, facts);
  if (blocked || CONTENT_POLICY.has(reason)) throw new ProviderError('content_policy_violation', { cause });
  if (reason === 'LANGUAGE') throw new ProviderError('provider_rejected', { param: 'prompt', cause });
  throw new NoPicture('provider_no_result', { cause });
}

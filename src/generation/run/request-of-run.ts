import type { ProviderRequest, ResolvedInput } from '../../providers/contract/provider.ts';
import type { ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';

export const requestOf = (
  { id, model, kind, input }: ClaimedTask,
  { upstream }: ReadyBinding,
  images: ProviderRequest['images'],
): ProviderRequest => ({
  taskId: id,
  model,
  kind,
  input: input as unknown as ResolvedInput, // validated when the task was created
  images,
  upstream,
});

export const hasImages = ({ images }: ProviderRequest): boolean =>
  images.references.length > 0 || images.firstFrame !== null;

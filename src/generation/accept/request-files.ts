import type { RequestImages } from '../../files/images/request-images.service.ts';
import { replaceImageUrls } from '../../models/definition/image-urls.ts';
import type { Model } from '../../models/definition/model.ts';
import type { ResolvedInput } from '../../providers/contract/provider.ts';

/** The input with the files that its data: URLs have become. */
export const withFiles = (model: Model, input: ResolvedInput, { replaced }: RequestImages): ResolvedInput =>
  replaced.size === 0 ? input : replaceImageUrls(model, input, ({ param }) => replaced.get(param) ?? null);

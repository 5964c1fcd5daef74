import { Injectable } from '@nestjs/common';
import type { ProviderOutput, ResolvedInput } from '../../providers/contract/provider.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { Turns } from '../../platform/run/turns.ts';
import { convertImage, needsConversion, type WantedFormat } from './convert-image.ts';
import { probe } from './probe.ts';

/** The file format that a task asks for. */
export interface Conversion {
  /** The API key of the task. The keys take turns at conversions. */
  apiKeyId: string;
  /** null: the file stays as the provider made it. */
  wanted: WantedFormat | null;
}

export function conversionOf({ api_key_id: apiKeyId, input }: Pick<ClaimedTask, 'api_key_id' | 'input'>): Conversion {
  const { output_format: format, output_compression: quality = 100 } = input as unknown as ResolvedInput;
  return { apiKeyId, wanted: format === undefined ? null : { format, quality } };
}

/** Converts one image at a time in this process, because the encoder uses all cores and each image takes memory. */
@Injectable()
export class ImageConversions {
  private readonly turns = new Turns();

  /** @throws ProviderError internal_error when the image cannot be read or converted; the signal's reason */
  async convert(made: ProviderOutput, { apiKeyId, wanted }: Conversion, signal: AbortSignal): Promise<ProviderOutput> {
    if (!wanted || !needsConversion(await probe(made), wanted)) return made;
    return this.turns.take(apiKeyId, signal, () => convertImage(made, wanted));
  }
}

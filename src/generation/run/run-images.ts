import { imageUrlsOf } from '../../models/definition/parameters.ts';
import type { Model } from '../../models/definition/model.ts';
import { makeScratch, removeScratch } from '../../platform/run/scratch.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import type { ProviderRequest } from '../../providers/contract/provider.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { normaliseMask } from '../images/mask.ts';
import { NO_IMAGES, type ReferenceImages, StorageAway } from '../images/reference-images.ts';
import type { Reservation, ScratchBudget } from '../images/scratch-budget.ts';
import { waitForPlace, waitForProvider } from './must-wait.ts';
import { retryWhileDatabaseDown } from './running-tasks.ts';

type Images = ProviderRequest['images'];

/** Fields whose image has a meaning of its own. The images of all other fields are references. */
const SINGLE: ReadonlySet<string> = new Set(['first_frame_image_url', 'last_frame_image_url', 'mask']);

/** Where a run gets its reference images from. Calls of one run must not overlap. */
export interface ImageSource {
  /** Fetches the images unless they are already on disk. @throws MustWait; ProviderError; the signal's reason */
  get(): Promise<Images>;
  /** Deletes the files. A later `get` fetches the images again. Never fails. */
  release(): Promise<void>;
}

/** For a run that only continues a job and needs no images. */
export const WITHOUT_IMAGES: ImageSource = { get: async () => NO_IMAGES, release: async () => undefined };

interface Services {
  budget: ScratchBudget;
  referenceImages: ReferenceImages;
}

/** The files of one run's reference images, and their part of the scratch budget. */
export class RunImages implements ImageSource {
  private images: Images | null = null;
  private folder: string | null = null;
  private reserved: Reservation | null = null;

  constructor(
    private readonly task: ClaimedTask,
    private readonly model: Model,
    private readonly signal: AbortSignal,
    private readonly services: Services,
  ) {}

  /** @throws MustWait while there is no room for the images, or while the storage that has them is away */
  async get(): Promise<Images> {
    if (this.images) return this.images;
    try {
      return (this.images = await this.fetch());
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  async release(): Promise<void> {
    const { folder, reserved } = this;
    [this.images, this.folder, this.reserved] = [null, null, null];
    if (folder) await removeScratch(folder);
    reserved?.release();
  }

  private async fetch(): Promise<Images> {
    const fields = imageUrlsOf(this.model, this.task.input);
    if (fields.length === 0) return NO_IMAGES;
    const attributes = { 'darkroom.images': fields.length };
    return traces.span('images', { kind: 'client', attributes }, () => this.fetchAll(fields));
  }

  private async fetchAll(fields: ReturnType<typeof imageUrlsOf>): Promise<Images> {
    const { task, signal } = this;
    const { budget, referenceImages } = this.services;
    const bytes = await retryWhileDatabaseDown(
      () => !signal.aborted,
      () => referenceImages.mostBytesOf(fields),
    );
    this.reserved = budget.reserve(task.api_key_id, bytes);
    if (!this.reserved) throw waitForPlace(task);
    this.folder = makeScratch();
    const fetching = { apiKeyId: task.api_key_id, folder: this.folder, signal };
    const images = await referenceImages.fetchAll(fields, fetching).catch((error: unknown) => {
      throw error instanceof StorageAway ? waitForProvider(task, undefined) : error;
    });
    const stored = [...new Set(images)].reduce((sum, { size }) => sum + size, 0);
    this.reserved.shrinkTo(stored);
    traces.set({ 'darkroom.bytes': stored });
    const only = (name: string) => images[fields.findIndex(({ param }) => param === name)] ?? null;
    const references = images.filter((_, at) => !SINGLE.has(fields[at]!.param));
    const mask = only('mask');
    return {
      references,
      firstFrame: only('first_frame_image_url'),
      lastFrame: only('last_frame_image_url'),
      mask: mask && references[0] ? await normaliseMask(mask, references[0], this.folder) : null,
    };
  }
}

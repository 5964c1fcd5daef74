import { createHash } from 'node:crypto';
import type { Darkroom } from '@darkroom/client';
import { failureText } from '../terminal/failure-text.ts';
import type { ImageFolders } from './image-folders.ts';

/** The arguments of tools that name images. */
export const IMAGE_ARGUMENTS = ['reference_images', 'first_frame_image_url', 'reference_image_url'];

/** Values that the service accepts as they are: links, data URLs, and ids of files. */
const NO_PATH = /^(?:https?:|data:|file_[0-9a-z]{26}(?:_[0-9]{1,3})?$)/i;

export class BadImage extends Error {
  constructor(
    readonly param: string,
    reason: string,
  ) {
    super(`${param}: ${reason}`);
  }
}

/** Uploads the images of this machine whose paths a call names, and replaces the paths by the ids of the files. */
export class LocalImages {
  /** The ids of uploads by path and content, so that a repeated call names the same ids. */
  private readonly uploaded = new Map<string, Promise<string>>();

  constructor(
    private readonly files: Pick<Darkroom['files'], 'upload'>,
    private readonly folders: ImageFolders,
  ) {}

  /** @throws BadImage */
  async replaceIn(given: Record<string, unknown>): Promise<Record<string, unknown>> {
    const named = IMAGE_ARGUMENTS.filter((name) => Object.hasOwn(given, name));
    const replaced = await Promise.all(
      named.map(async (name) => [name, await this.replace(given[name], name)] as const),
    );
    return { ...given, ...Object.fromEntries(replaced) };
  }

  private async replace(value: unknown, param: string): Promise<unknown> {
    if (Array.isArray(value)) return Promise.all(value.map((each, at) => this.replace(each, `${param}[${at}]`)));
    if (typeof value !== 'string' || value === '' || NO_PATH.test(value)) return value; // the service checks the value
    return this.idOf(value, param);
  }

  private async idOf(value: string, param: string): Promise<string> {
    try {
      const { path, name, bytes } = await this.folders.read(value);
      const state = `${path} ${createHash('sha256').update(bytes).digest('hex')}`;
      const upload = this.uploaded.get(state) ?? this.files.upload(bytes, { filename: name }).then(({ id }) => id);
      this.uploaded.set(state, upload);
      upload.catch(() => this.uploaded.delete(state));
      return await upload;
    } catch (error) {
      throw new BadImage(param, failureText(error));
    }
  }
}

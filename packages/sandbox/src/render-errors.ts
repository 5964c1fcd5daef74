/** Thrown in a render thread after the caller aborted the render. */
export class RenderStopped extends Error {}

/** A render thread threw or exited. The cause is a bug or a lack of resources, never the client's input. */
export class RenderCrashed extends Error {}

/** An image that passed the checks after its download, but cannot be decoded. */
export class UndecodableImage extends Error {
  /** The field of the request that named the image. */
  readonly param: string;

  constructor(param: string, cause: unknown) {
    super('an image cannot be decoded', { cause });
    this.param = param;
  }
}

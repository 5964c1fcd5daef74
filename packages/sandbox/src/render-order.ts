/** Messages between the render pool and its threads. */

/** An image of the client. */
export interface SourceImage {
  /** The path of its file. */
  path: string;
  /** The field of the request that named the image, for the error when the image cannot be decoded. */
  param: string;
}

interface Order {
  model: string;
  /** The prompt without directives such as `#hang`. */
  text: string;
  /** Pixels. */
  size: { width: number; height: number };
  references: SourceImage[];
  /** Another seed gives another picture. Absent: the prompt and the model decide. */
  seed?: number | undefined;
  /** Another variation gives another picture of the same scene, unless there is a seed. */
  variation?: string | undefined;
  /** Rows of small text: parameters that cannot be shown in the painting. */
  facts?: string[] | undefined;
}

export interface PicturesOrder extends Order {
  kind: 'pictures';
  count: number;
  /** How many early stages of each picture to send, 0 to 3. */
  partials: number;
  /** The first reference changes where the mask is white. Elsewhere its pixels stay. */
  mask?: SourceImage | null | undefined;
  /** How much the first reference is painted over, 0 to 1. Absent: 1. */
  strength?: number | undefined;
  /** Whether the rim of the picture is transparent. */
  isTransparent?: boolean | undefined;
}

export interface FilmOrder extends Order {
  kind: 'film';
  durationSeconds: number;
  /** The picture that fills the first frame. */
  firstFrame: SourceImage | null;
  /** The picture that fills the last frame. The last second fades to it. */
  lastFrame?: SourceImage | null | undefined;
  /** Whether the film has a silent sound track. */
  hasSound?: boolean | undefined;
  /** Where the MP4 is written. The file must not exist yet. */
  path: string;
  /** Where the first frame is written as WebP. */
  stillPath: string;
}

export type RenderOrder = PicturesOrder | FilmOrder;

/** From the pool to a thread. `stop` is a shared 32-bit flag: any value but 0 stops the render. */
export interface RenderCall {
  order: RenderOrder;
  stop: SharedArrayBuffer;
}

/** From a thread to the pool. `done` contains the PNGs; for a film it contains none. */
export type RenderMessage =
  | { type: 'progress'; share: number }
  | { type: 'partial'; picture: Uint8Array }
  | { type: 'done'; pictures: Uint8Array[] }
  | { type: 'bad-image'; param: string; message: string }
  | { type: 'stopped' };

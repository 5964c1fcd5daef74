/** Messages between the render pool and its threads. */

/** An image of the client's. */
export interface SourceImage {
  /** Of its file. */
  path: string;
  /** The request field it came from, for the error when it cannot be decoded. */
  param: string;
}

interface Order {
  model: string;
  /** What to paint: the prompt without directives. */
  text: string;
  /** Pixels. */
  size: { width: number; height: number };
  references: SourceImage[];
  /** Another one is another picture; absent: the prompt alone decides. */
  seed?: number | undefined;
  /** Another one is another picture of the same scene, unless there is a seed. */
  variation?: string | undefined;
  /** Rows of small text: parameters that change nothing that can be painted. */
  facts?: string[] | undefined;
}

export interface PicturesOrder extends Order {
  kind: 'pictures';
  count: number;
  /** Early stages to send of each picture; 0 to 3. */
  partials: number;
  /** White where the first reference changes; elsewhere its pixels stay. */
  mask?: SourceImage | null | undefined;
  /** How much of the first reference is painted over: 0 to 1. */
  strength?: number | undefined;
  /** The rim has no colour then. */
  isTransparent?: boolean | undefined;
}

export interface FilmOrder extends Order {
  kind: 'film';
  durationSeconds: number;
  /** Fills the opening frame. */
  firstFrame: SourceImage | null;
  /** The last second fades to it, and it fills the last frame. */
  lastFrame?: SourceImage | null | undefined;
  /** A sound track, of silence. */
  hasSound?: boolean | undefined;
  /** Where the MP4 is written. The file must not exist yet. */
  path: string;
  /** Where the first frame is written as WebP. */
  stillPath: string;
}

export type RenderOrder = PicturesOrder | FilmOrder;

/** Pool to thread. `stop` is one shared 32-bit flag: any value but 0 stops the render. */
export interface RenderCall {
  order: RenderOrder;
  stop: SharedArrayBuffer;
}

/** Thread to pool. `done` carries the PNGs; for a film it is empty. */
export type RenderMessage =
  | { type: 'progress'; share: number }
  | { type: 'partial'; picture: Uint8Array }
  | { type: 'done'; pictures: Uint8Array[] }
  | { type: 'bad-image'; param: string; message: string }
  | { type: 'stopped' };

/** What the provider and a render thread say to one another. */

/** An image the client referred to. */
export interface SourceImage {
  bytes: Uint8Array;
  /** The field it came from, for the error when it cannot be decoded. */
  param: string;
}

interface Order {
  model: string;
  /** What to paint: the prompt without directives. */
  text: string;
  /** Pixels. */
  size: { width: number; height: number };
  references: SourceImage[];
}

export interface PicturesOrder extends Order {
  kind: 'pictures';
  count: number;
}

export interface FilmOrder extends Order {
  kind: 'film';
  durationSeconds: number;
  /** Covers the first frame. */
  firstFrame: SourceImage | null;
  /** The MP4 is written here. */
  path: string;
}

export type RenderOrder = PicturesOrder | FilmOrder;

/** Main to thread. `stop` is one shared 32-bit flag: not 0 means that nobody wants the result any more. */
export interface RenderCall {
  order: RenderOrder;
  stop: SharedArrayBuffer;
}

/** Thread to main. `done` carries the PNGs, nothing for a film. */
export type RenderNews =
  | { type: 'progress'; share: number }
  | { type: 'done'; pictures: Uint8Array[] }
  | { type: 'bad-image'; param: string; message: string }
  | { type: 'stopped' };

import { FILM_ENCODER } from './encoder/film-encoder.gen.ts';

const QUANTIZER = 22; // above about 25, skies show blocks
const SPEED = 10; // 4.5 ms of CPU for a frame of 720p; a film encoded with 8 looks the same

/** A frame as MP4 stores it: NAL units, each preceded by its length. */
export interface EncodedFrame {
  bytes: Uint8Array;
  /** Only for a key frame: the sequence and the picture parameter set. */
  parameters?: ParameterSets;
}

export interface ParameterSets {
  sequence: Uint8Array;
  picture: Uint8Array;
}

export interface Plane {
  bytes: Uint8Array;
  width: number;
  height: number;
  /** Bytes from the start of one row to the start of the next row. */
  stride: number;
}

interface FilmShape {
  /** Pixels; both numbers are even. */
  size: { width: number; height: number };
  /** The factor by which the film is larger than the scene, 1 or 2. */
  scale: number;
  /** The pixels of the letters, which lie over the scene: premultiplied RGBA of the film's width. */
  letters: Uint8Array;
  /** How many rows `cover` has. */
  coverRows: number;
}

/** The part of WebAssembly that is used here. Neither this project's type library nor Node's types declare it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** The exports of encoder/film-encoder.c. */
interface Exports {
  memory: { buffer: ArrayBuffer };
  open(width: number, height: number, scale: number, letterRows: number, coverRows: number, quantizer: number, speed: number): number; // prettier-ignore
  scene(): number;
  letters(): number;
  cover(): number;
  compose(top: number, count: number, lettersTop: number, covered: number): void;
  plane(index: number): number;
  restart(): number;
  encode(): number;
  output(): number;
}

/** Composes frames from pixels and encodes them as H.264, in WebAssembly (docs/decisions/0072-the-film-encoder.md). */
export class FilmEncoder {
  /** The pixels of the scene, opaque RGBA. They are enlarged by `scale`. */
  readonly scene: Uint8Array;
  /** The pixels that lie over scene and letters, premultiplied RGBA. They cover the rows of the next `compose`. */
  readonly cover: Uint8Array;
  private readonly exports: Exports;
  private readonly size: FilmShape['size'];

  constructor({ size, scale, letters, coverRows }: FilmShape) {
    const { width, height } = size;
    this.size = size;
    const wasm = new WebAssembly.Module(Buffer.from(FILM_ENCODER, 'base64'));
    this.exports = new WebAssembly.Instance(wasm).exports as Exports;
    const status = this.exports.open(width, height, scale, letters.length / 4 / width, coverRows, QUANTIZER, SPEED);
    if (status !== 0) throw new Error(`the film encoder cannot open ${width} x ${height}: ${status}`);
    // The memory does not grow any more, so these views stay valid.
    const { buffer } = this.exports.memory;
    new Uint8Array(buffer, this.exports.letters(), letters.length).set(letters);
    this.scene = new Uint8Array(buffer, this.exports.scene(), (width / scale) * (height / scale) * 4);
    this.cover = new Uint8Array(buffer, this.exports.cover(), width * coverRows * 4);
  }

  /**
   * Composes `count` rows of the next frame, from the row `top` on. `count` and `top` are even. `lettersTop` is the row
   * at which the letters begin. `covered` says whether `cover` has pixels for these rows.
   */
  compose(top: number, count: number, lettersTop: number, covered: boolean): void {
    this.exports.compose(top, count, lettersTop, Number(covered));
  }

  /** The composed frame in planar 4:2:0, BT.709 in limited range: luma, then both planes of chroma. */
  get planes(): Plane[] {
    const { width, height } = this.size;
    const stride = Math.ceil(width / 16) * 16;
    const plane = (index: number, share: number): Plane => {
      const shape = { width: width / share, height: height / share, stride: stride / share };
      const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.plane(index), shape.stride * shape.height);
      return { ...shape, bytes };
    };
    return [plane(0, 1), plane(1, 2), plane(2, 2)];
  }

  /** Makes the next frame a key frame: neither that frame nor a later one depends on an earlier one. */
  restart(): void {
    if (this.exports.restart() !== 0) throw new Error('the film encoder cannot restart');
  }

  encode(): EncodedFrame {
    const length = this.exports.encode();
    if (length < 0) throw new Error('the film encoder failed');
    const units = new Uint8Array(this.exports.memory.buffer, this.exports.output(), length);
    const sequence = unitOf(units, SEQUENCE_PARAMETERS);
    const picture = unitOf(units, PICTURE_PARAMETERS);
    if (!sequence || !picture) return { bytes: units.slice() };
    // Both parameter sets come before the units of the picture. MP4 stores them elsewhere.
    const bytes = units.slice(LENGTH_BYTES + sequence.length + LENGTH_BYTES + picture.length);
    return { bytes, parameters: { sequence: sequence.slice(), picture: picture.slice() } };
  }
}

// Types of NAL units. The lower five bits of a unit's first byte are its type.
const SEQUENCE_PARAMETERS = 7;
const PICTURE_PARAMETERS = 8;
const LENGTH_BYTES = 4;

/** The first NAL unit of this type, without its length; undefined: there is none. */
function unitOf(units: Uint8Array, type: number): Uint8Array | undefined {
  const view = new DataView(units.buffer, units.byteOffset, units.byteLength);
  for (let at = 0; at < units.length;) {
    const start = at + LENGTH_BYTES;
    const end = start + view.getUint32(at);
    if ((view.getUint8(start) & 31) === type) return units.subarray(start, end);
    at = end;
  }
  return undefined;
}

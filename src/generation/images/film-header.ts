import type { ByteSource } from '../../provenance/formats/byte-source.ts';

export interface FilmHeader {
  /** Pixels, after the rotation that the file asks for. */
  width: number;
  height: number;
  /** Seconds. */
  duration: number;
}

/** A part of the file. Its content has the bytes from `start` up to, but not including, `end`. */
interface Box {
  name: string;
  start: number;
  end: number;
}

interface Track {
  id: number;
  width: number;
  height: number;
  /** Units of time in a second. */
  timescale: number;
}

/** The most boxes that are read. A fragment and its tracks have some ten. */
const MAX_BOXES = 100_000;
/**
 * The most bytes of tables with the duration of each sample of a fragment. The tables of an hour of film have less than
 * 2 MiB.
 */
const MAX_TABLE_BYTES = 16 * 1024 * 1024;

/**
 * Reads the size and the duration of an MP4 file (ISO/IEC 14496-12). Libraries list all samples in memory to find
 * these, and a file of 1 kB can announce billions of samples. This function reads only the parts that it needs, at most
 * MAX_BOXES boxes and MAX_TABLE_BYTES of tables.
 *
 * @throws Error when the file has no video track, or exceeds MAX_BOXES or MAX_TABLE_BYTES
 */
export async function readFilmHeader(file: ByteSource): Promise<FilmHeader> {
  return new HeaderReader(file).read();
}

class HeaderReader {
  private boxes = 0;
  private tableBytes = 0;

  constructor(private readonly file: ByteSource) {}

  async read(): Promise<FilmHeader> {
    let track: Track | undefined;
    let [stated, fragments, sampleDuration] = [0, 0, 0];
    for await (const box of this.boxesIn({ start: 0, end: this.file.size })) {
      if (box.name === 'moov' && !track) {
        track = await this.videoTrack(box);
        stated = await this.statedDuration(box);
        sampleDuration = track ? await this.sampleDurationOf(box, track) : 0;
      } else if (box.name === 'moof' && track) {
        fragments = await this.endOfFragment(box, track, sampleDuration, fragments);
      }
    }
    if (!track) throw new Error('The provider returned a file without a video track.');
    // The header of a film that was written in fragments states no duration, or only the duration of its beginning.
    const duration = Math.max(stated, fragments / track.timescale);
    return { width: track.width, height: track.height, duration };
  }

  private async videoTrack(moov: Box): Promise<Track | undefined> {
    for await (const box of this.boxesIn(moov)) {
      if (box.name !== 'trak') continue;
      const handler = await this.content(box, 'mdia', 'hdlr');
      if (handler?.toString('latin1', 8, 12) !== 'vide') continue;
      const [header, media] = [await this.content(box, 'tkhd'), await this.content(box, 'mdia', 'mdhd')];
      if (!header || !media) continue;
      const [id, matrix] = header[0] === 1 ? [20, 52] : [12, 40];
      const across = header.readUInt32BE(matrix + 36) / 65_536;
      const down = header.readUInt32BE(matrix + 40) / 65_536;
      // In the matrix of a film that is rotated by 90 degrees, the two factors of scale are 0.
      const isTurned = header.readInt32BE(matrix) === 0;
      const [width, height] = (isTurned ? [down, across] : [across, down]).map(Math.round) as [number, number];
      const { timescale } = timesIn(media);
      if (width > 0 && height > 0 && timescale > 0) return { id: header.readUInt32BE(id), width, height, timescale };
    }
    return undefined;
  }

  /** Seconds; 0 if the header states none. */
  private async statedDuration(moov: Box): Promise<number> {
    const movie = await this.content(moov, 'mvhd');
    if (!movie) return 0;
    const { timescale, duration } = timesIn(movie);
    const withFragments = await this.content(moov, 'mvex', 'mehd');
    const units = Math.max(duration, withFragments ? unitsAt(withFragments, 4) : 0);
    return timescale > 0 ? units / timescale : 0;
  }

  /**
   * The duration of a sample in a fragment that states none, in units of the track's timescale; 0 if the file has no
   * default.
   */
  private async sampleDurationOf(moov: Box, track: Track): Promise<number> {
    for await (const mvex of this.boxesIn(moov)) {
      if (mvex.name !== 'mvex') continue;
      for await (const box of this.boxesIn(mvex)) {
        if (box.name !== 'trex') continue;
        const content = await this.headOf(box);
        if (content.readUInt32BE(4) === track.id) return content.readUInt32BE(12);
      }
    }
    return 0;
  }

  /** @returns where the fragment ends, in units of the track's timescale; `begin` if it has no sample of the track */
  private async endOfFragment(moof: Box, track: Track, sampleDuration: number, begin: number): Promise<number> {
    let end = begin;
    for await (const traf of this.boxesIn(moof)) {
      const header = traf.name === 'traf' ? await this.content(traf, 'tfhd') : undefined;
      if (header?.readUInt32BE(4) !== track.id) continue;
      const flags = header.readUInt32BE(0);
      const own = 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0);
      const usual = flags & 0x8 ? header.readUInt32BE(own) : sampleDuration;
      for await (const box of this.boxesIn(traf)) {
        if (box.name === 'tfdt') end = unitsAt(await this.headOf(box), 4);
        if (box.name === 'trun') end += await this.durationOfRun(box, usual);
      }
    }
    return end;
  }

  /** The duration of the run, in units of the track's timescale. */
  private async durationOfRun(trun: Box, usual: number): Promise<number> {
    const head = await this.headOf(trun);
    const flags = head.readUInt32BE(0);
    const samples = head.readUInt32BE(4);
    if (!(flags & 0x100)) return samples * usual;
    const first = 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0);
    const sampleBytes = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length * 4;
    const length = trun.end - trun.start;
    this.tableBytes += length;
    if (this.tableBytes > MAX_TABLE_BYTES) throw tooLarge();
    const table = await this.file.read(trun.start, length);
    let duration = 0;
    for (let at = first, left = samples; left > 0 && at + 4 <= table.length; at += sampleBytes, left -= 1) {
      duration += table.readUInt32BE(at);
    }
    return duration;
  }

  /** The beginning of the content of the box at this path; undefined if there is no such box. */
  private async content(parent: Box, name: string, ...rest: string[]): Promise<Buffer | undefined> {
    for await (const box of this.boxesIn(parent)) {
      if (box.name !== name) continue;
      const [next, ...others] = rest;
      return next === undefined ? this.headOf(box) : this.content(box, next, ...others);
    }
    return undefined;
  }

  /**
   * At most the first 96 bytes of the content. Every field that is read with this method ends before byte 96, or at it:
   * the height in `tkhd`.
   */
  private async headOf({ start, end }: Box): Promise<Buffer> {
    return this.file.read(start, Math.min(96, end - start));
  }

  private async *boxesIn(parent: Omit<Box, 'name'>): AsyncGenerator<Box> {
    for (let at = parent.start; at + 8 <= parent.end;) {
      this.boxes += 1;
      if (this.boxes > MAX_BOXES) throw tooLarge();
      const head = await this.file.read(at, 16);
      const short = head.readUInt32BE(0);
      const isLong = short === 1 && head.length === 16;
      // The size 0 means that the box extends to the end of its parent.
      const size = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? parent.end - at : short;
      const start = at + (isLong ? 16 : 8);
      if (at + size < start) return; // what follows is no box
      yield { name: head.toString('latin1', 4, 8), start, end: Math.min(at + size, parent.end) };
      at += size;
    }
  }
}

const tooLarge = () => new Error('The provider returned a film with too large an index.');

/** The timescale and the duration in a box `mvhd` or `mdhd`. */
function timesIn(header: Buffer): { timescale: number; duration: number } {
  const at = header[0] === 1 ? 20 : 12;
  return { timescale: header.readUInt32BE(at), duration: unitsAt(header, at + 4) };
}

/**
 * Reads a number, which has 8 bytes in version 1 of a box and 4 bytes in version 0. All bits set mean that the number
 * is unknown, and the result is then 0.
 */
function unitsAt(content: Buffer, at: number): number {
  const [units, unknown] =
    content[0] === 1
      ? [Number(content.readBigUInt64BE(at)), Number(0xffff_ffff_ffff_ffffn)]
      : [content.readUInt32BE(at), 0xffff_ffff];
  return units === unknown ? 0 : units;
}

/** How many chunks in a row may be tiny. Encoders that write each header and number by itself send some tiny chunks. */
const MAX_IN_A_ROW = 4_096;
/** Chunks in a row count as tiny if their mean size is less than this. */
const MIN_MEAN_BYTES = 64;

/**
 * Notices a body of very many tiny chunks (`Transfer-Encoding: chunked`). 64 KiB from the network hold 10,900 chunks of
 * one byte, and each of them takes about as much time and memory as a chunk of 16 KB.
 */
export class TinyChunks {
  private chunks = 0;
  private bytes = 0;

  /** @returns whether there were too many tiny chunks, this one included */
  add(bytes: number): boolean {
    this.chunks += 1;
    this.bytes += bytes;
    if (this.chunks < MAX_IN_A_ROW) return false;
    const areTiny = this.bytes < MAX_IN_A_ROW * MIN_MEAN_BYTES;
    this.chunks = this.bytes = 0;
    return areTiny;
  }
}

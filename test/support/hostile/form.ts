import type { HostileService } from './service.ts';

/** How many of the attacks are sent. */
export interface Form {
  /** Texts of the list for each part of a request: a header, a field, a parameter. */
  textsPerPlace: number;
  /** Requests generated from the schema of each operation. */
  samplesPerOperation: number;
  /** Whether every JSON text is sent to every operation that reads a body, or only to one. */
  everyReader: boolean;
  randomDocuments: number;
  /** The seed of random choices. The short form sends the same requests in every run. */
  seed: number;
  /** Messages on one socket. */
  messages: number;
  slowSenders: number;
  /** The longest time of a response, unless the client asked for a long poll. */
  hangMs: number;
}

/**
 * A short form of each kind of attack on each operation. The time of a response depends on the machine, so only the
 * long form checks it.
 */
export const SHORT: Form = {
  textsPerPlace: 3,
  samplesPerOperation: 3,
  everyReader: false,
  randomDocuments: 60,
  seed: 1,
  messages: 300,
  slowSenders: 20,
  hangMs: Infinity,
};

export const LONG: Form = {
  textsPerPlace: Infinity,
  samplesPerOperation: 2_000,
  everyReader: true,
  randomDocuments: 20_000,
  seed: Date.now(),
  messages: 2_000,
  slowSenders: 1_000,
  hangMs: 2_000,
};

const MIB = 1024 * 1024;

/** Checks that heap and resident memory do not grow by more than the given MiB during the later rounds. */
export async function expectNoLeak(
  name: string,
  service: HostileService,
  { rounds, heapMib, rssMib }: { rounds: number; heapMib: number; rssMib: number },
  round: () => Promise<void>,
): Promise<void> {
  const measure = async () => [(await service.heap()) / MIB, (await service.rss()) / MIB] as const;
  await round();
  const [heapBefore, rssBefore] = await measure();
  for (let time = 0; time < rounds; time++) await round();
  const [heapAfter, rssAfter] = await measure();
  const from = `heap ${heapBefore.toFixed(1)} -> ${heapAfter.toFixed(1)} MiB`;
  process.stderr.write(`${name}: ${from}, RSS ${rssBefore.toFixed(1)} -> ${rssAfter.toFixed(1)} MiB\n`);
  expect(heapAfter - heapBefore).toBeLessThan(heapMib);
  expect(rssAfter - rssBefore).toBeLessThan(rssMib); // V8 keeps some memory for bodies of half a MiB
}

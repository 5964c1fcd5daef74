import type { HostileService } from './service.ts';

/** How much of the attacks is sent. */
export interface Form {
  /** Texts of the list for each place of a request: a header, a field, a parameter. */
  textsPerPlace: number;
  /** Requests made from the schema of each operation. */
  samplesPerOperation: number;
  /** Whether every JSON text goes to every operation that reads a body, not only to one. */
  everyReader: boolean;
  randomDocuments: number;
  /** Of what is drawn at random: the short form sends the same in every run. */
  seed: number;
  /** Of one socket. */
  messages: number;
  slowSenders: number;
  /** No response may take longer, unless the client asked for a long poll. */
  hangMs: number;
}

/** Each kind of attack, and each operation. The time of a response depends on the machine, so only the long form judges it. */
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

/** Heap and resident memory must not grow by more than this during the later rounds. */
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

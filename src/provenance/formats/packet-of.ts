/** @param existing the packet in the file; null if it has no packet. @throws Unmarkable */
export type PacketOf = (existing: Buffer | null) => Buffer;

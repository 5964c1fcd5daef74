/** Tables with the same partitions, by the time in ids of one kind. */
export interface Partitioned {
  /** Of the ids. */
  prefix: string;
  /** The first one gives them their name in `partitioned_tables`. `key` is the column of the id, with which the primary key begins. */
  tables: readonly [PartitionedName, ...PartitionedName[]];
}

interface PartitionedName {
  name: string;
  key: string;
}

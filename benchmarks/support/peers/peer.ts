/** A service with OpenAI's `POST /v1/images/generations` in front of the upstream. */
export interface Peer {
  name: string;
  /** Without a slash at its end. */
  url: string;
  apiKey: string;
  /** Starts it, also again after `stop`. @returns milliseconds until it was ready */
  start(): Promise<number>;
  stop(): Promise<void>;
  /** Processes that do its work, with their children; the database is apart. */
  pid(): number;
  databasePid(): number | null;
  /** Deletes the pictures that it keeps. */
  clear(): Promise<void>;
}

/** A service that offers OpenAI's `POST /v1/images/generations` and passes it on to the upstream. */
export interface Peer {
  name: string;
  /** The base URL, without a slash at its end. */
  url: string;
  apiKey: string;
  /** Starts the service; also again after `stop`. @returns milliseconds until the service was ready */
  start(): Promise<number>;
  stop(): Promise<void>;
  /** The main process of the service. Its work is counted with its children; the database is counted separately. */
  pid(): number;
  databasePid(): number | null;
  /** Deletes the pictures that the service keeps. */
  clear(): Promise<void>;
}

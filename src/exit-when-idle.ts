/** After this time the process exits although handles are open. */
const EXIT_TIMEOUT_MS = 3_000;

/**
 * Ends the process when its last handle closes. An immediate `process.exit` can hang forever: Node joins the thread of
 * a background compilation that waits for the garbage collector, which never runs (seen once, for nine minutes).
 */
export function exitWhenIdle(): void {
  process.exitCode = 0;
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
}

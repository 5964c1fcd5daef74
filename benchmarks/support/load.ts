import autocannon from 'autocannon';

/**
 * Keeps every connection busy.
 * @returns requests a second
 * @throws Error when any was refused or broke
 */
export async function load(options: autocannon.Options): Promise<number> {
  const result = await autocannon(options);
  if (result.non2xx > 0 || result.errors > 0) {
    const answers = JSON.stringify(result.statusCodeStats);
    throw new Error(`${options.url}: ${answers} by status, ${result.errors} broken`);
  }
  return result.requests.average;
}

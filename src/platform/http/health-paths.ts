/** The routes that need no API key, exist in every role of the process and are logged at `debug` only. */
export const HEALTH_PATHS = { liveness: '/healthz', readiness: '/readyz', metrics: '/metrics' } as const;

const paths: ReadonlySet<string> = new Set(Object.values(HEALTH_PATHS));

export const isHealthPath = (path: string): boolean => paths.has(path);

import type { ServiceClient } from '../client/service-client.ts';

/** Answers what `darkroom ops` asks for: the service over HTTP, or this process on the database of the service. */
export type Operator = Pick<ServiceClient, 'call' | 'once'>;

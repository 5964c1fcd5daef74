import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/**
 * A name that is unique among the messages of one API key. The id of the message is not enough, because there are no
 * sessions, and several clients of a key count from 0. So the name includes the IP address and the User-Agent.
 */
export const messageName = ({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>, id: string | number): string =>
  hash('sha256', JSON.stringify([ip, headers['user-agent'], id]), 'hex');

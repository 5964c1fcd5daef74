import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/**
 * Names a message among those of an API key. Without sessions nothing tells clients apart, and each counts its messages
 * from 0. So the name has also the address and the program of the client.
 */
export const messageName = ({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>, id: string | number): string =>
  hash('sha256', JSON.stringify([ip, headers['user-agent'], id]), 'hex');

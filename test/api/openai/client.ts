import OpenAI from 'openai';
import type { TestService } from '../../support/service.ts';

/** The unchanged client of OpenAI, pointed at the service. */
export const openaiClient = ({ baseUrl, api }: Pick<TestService, 'baseUrl' | 'api'>, options: object = {}): OpenAI =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: api.key!, maxRetries: 0, ...options });

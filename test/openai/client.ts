import OpenAI from 'openai';
import type { TestApp } from '../support/app.ts';

/** The unchanged client of OpenAI, pointed at the service. */
export const openaiClient = ({ baseUrl, api }: Pick<TestApp, 'baseUrl' | 'api'>, options: object = {}): OpenAI =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: api.key!, maxRetries: 0, ...options });

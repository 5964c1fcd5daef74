import type { CallOptions, Transport } from '../http/transport.ts';
import type { Model, ModelList } from '../types.gen.ts';

/** The models that can be used. */
export class Models {
  constructor(private readonly transport: Transport) {}

  async list(options: CallOptions = {}): Promise<Model[]> {
    return (await this.transport.json<ModelList>('GET', '/v1/models', options)).data;
  }

  get(id: string, options: CallOptions = {}): Promise<Model> {
    return this.transport.json('GET', `/v1/models/${encodeURIComponent(id)}`, options);
  }
}

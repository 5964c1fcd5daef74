import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { assertScope } from './access.ts';
import type { Caller, Scope } from './caller.ts';

interface NodeType {
  /** The prefix of this type's ids, without the underscore: `task` for `task_…`. */
  prefix: string;
  /** The name of the type in the schema. */
  name: string;
  scope: Scope;
  /** @throws ApiError with status 404 when the object does not exist or the caller may not see it */
  find: (caller: Caller, id: string) => Promise<object>;
}

/** The types of objects that GraphQL finds by their id alone. The module that owns a type registers it. */
@Injectable()
export class Nodes {
  private readonly types = new Map<string, NodeType>();

  register(type: NodeType): void {
    this.types.set(type.prefix, type);
  }

  /**
   * @returns null for an object that does not exist, or that belongs to another key
   * @throws ApiError insufficient_scope when the caller lacks the scope of the type
   */
  async find(caller: Caller, id: string): Promise<object | null> {
    const type = this.types.get(id.slice(0, Math.max(id.indexOf('_'), 0)));
    if (!type) return null;
    assertScope(caller, type.scope);
    try {
      // The spread also copies symbol properties, in which views store internal values.
      return { ...(await type.find(caller, id)), __typename: type.name };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }
}

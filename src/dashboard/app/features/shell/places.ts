import { Images, ListTodo, Plus } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Scope } from '../../api/session.ts';

export interface Place {
  to: string;
  label: string;
  Icon: LucideIcon;
  /** The second key after `g`. */
  key: string;
  scope?: Scope;
  group: 'work' | 'connect' | 'instance';
}

/** The entries of the menu: every one is a whole screen. */
export const PLACES: readonly Place[] = [
  { to: '/create', label: 'Create', Icon: Plus, key: 'c', scope: 'generations:write', group: 'work' },
  { to: '/tasks', label: 'Tasks', Icon: ListTodo, key: 't', scope: 'tasks:read', group: 'work' },
  { to: '/gallery', label: 'Gallery', Icon: Images, key: 'g', scope: 'tasks:read', group: 'work' },
];

export const GROUPS = { work: null, connect: 'Connect', instance: 'Instance' } as const;

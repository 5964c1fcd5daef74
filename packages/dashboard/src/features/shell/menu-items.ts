import {
  Boxes,
  ChartColumn,
  Images,
  KeyRound,
  Layers,
  ListTodo,
  Plug,
  Plus,
  Server,
  Settings,
  Webhook,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Scope } from '../../api/session.ts';

export interface MenuItem {
  to: string;
  label: string;
  Icon: LucideIcon;
  /** The key to press after `g`. */
  key: string;
  scope?: Scope;
  group: 'work' | 'connect' | 'instance';
}

/** The entries of the menu. Each opens a screen. */
export const MENU_ITEMS: readonly MenuItem[] = [
  { to: '/create', label: 'Create', Icon: Plus, key: 'c', scope: 'generations:write', group: 'work' },
  { to: '/tasks', label: 'Tasks', Icon: ListTodo, key: 't', scope: 'tasks:read', group: 'work' },
  { to: '/gallery', label: 'Gallery', Icon: Images, key: 'g', scope: 'tasks:read', group: 'work' },
  { to: '/batches', label: 'Batches', Icon: Layers, key: 'b', scope: 'tasks:read', group: 'work' },
  { to: '/connect', label: 'Connect', Icon: Plug, key: 'n', group: 'connect' },
  { to: '/keys', label: 'API keys', Icon: KeyRound, key: 'k', scope: 'keys:manage', group: 'connect' },
  { to: '/webhooks', label: 'Webhooks', Icon: Webhook, key: 'w', scope: 'webhooks:manage', group: 'connect' },
  { to: '/queue', label: 'Queue', Icon: Server, key: 'q', scope: 'operations:read', group: 'instance' },
  { to: '/providers', label: 'Providers', Icon: Boxes, key: 'p', scope: 'operations:read', group: 'instance' },
  { to: '/usage', label: 'Usage', Icon: ChartColumn, key: 'u', scope: 'tasks:read', group: 'instance' },
  { to: '/settings', label: 'Settings', Icon: Settings, key: 's', group: 'instance' },
];

export const GROUPS = { work: null, connect: 'Connect', instance: 'Instance' } as const;

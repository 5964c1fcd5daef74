import type { DeclaredBinding } from '../definition/declared-binding.ts';
import type { MediaKind } from '../definition/media-kind.ts';
import type { ImageGuidance } from '../definition/model.ts';
import type { Scalar } from '../definition/parameters.ts';

/** What a declaration says about a parameter. */
export interface DeclaredParameter {
  description?: string;
  type?: 'string' | 'integer' | 'number' | 'boolean';
  enum?: readonly Scalar[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  default?: Scalar;
}

export interface DeclaredRule {
  when: Readonly<Record<string, unknown>>;
  requires?: readonly string[];
  excludes?: readonly string[];
}

export interface DeclaredTable {
  auto?: boolean;
  columns: readonly string[];
  rows: Readonly<Record<string, readonly string[]>>;
}

/** The content of a file that models/schema.json accepts. */
export interface Declaration {
  id: string;
  kind: MediaKind;
  owned_by?: string;
  created?: string;
  description: string;
  aliases?: readonly string[];
  parameters: Readonly<Record<string, DeclaredParameter>>;
  sizes: { table?: DeclaredTable; pixels?: Readonly<Record<string, number>> };
  rules?: readonly DeclaredRule[];
  guidance?: Readonly<Record<string, ImageGuidance>>;
  choose?: 'in_order' | 'first_configured';
  bindings: readonly DeclaredBinding[];
  prices?: readonly Readonly<Record<string, unknown>>[];
  access?: 'open' | 'listed';
  lifecycle?: { deprecated_at?: string; sunset_at?: string; replacement?: string };
  tests?: readonly { name?: string; input: object; expect?: object }[];
}

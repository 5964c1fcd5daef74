import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * The first revision whose results have links. A client of an earlier one may refuse a whole result for a block it does
 * not know.
 */
const WITH_LINKS = '2025-06-18';
/** What a client without the header speaks, by the protocol. */
const WITHOUT_HEADER = '2025-03-26';

/** @param header `MCP-Protocol-Version`; revisions are dates */
export const knowsLinks = (header: string | string[] | undefined): boolean =>
  String(header ?? WITHOUT_HEADER) >= WITH_LINKS;

/** The text of a result has the links too. */
export const withoutLinks = (result: CallToolResult): CallToolResult => ({
  ...result,
  content: result.content.filter(({ type }) => type !== 'resource_link'),
});

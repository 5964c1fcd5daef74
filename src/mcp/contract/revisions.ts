import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * The first protocol revision whose results have links. A client of an earlier revision may refuse a whole result
 * because of one unknown block.
 */
const WITH_LINKS = '2025-06-18';
/** The revision that the protocol assumes for a request without the header `MCP-Protocol-Version`. */
const WITHOUT_HEADER = '2025-03-26';

/** @param header `MCP-Protocol-Version`, which is a date */
export const knowsLinks = (header: string | string[] | undefined): boolean =>
  String(header ?? WITHOUT_HEADER) >= WITH_LINKS;

/** Drops only the link blocks, because the text of the result has the links too. */
export const withoutLinks = (result: CallToolResult): CallToolResult => ({
  ...result,
  content: result.content.filter(({ type }) => type !== 'resource_link'),
});

/** The route of the MCP server. It also tells its calls from those of other routes. mcp/contract/message-name.ts */
export const MCP_PATH = '/mcp';

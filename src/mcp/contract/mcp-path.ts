/** The route of the MCP server. It also marks its calls among those of other routes. */
export const MCP_PATH = '/mcp';

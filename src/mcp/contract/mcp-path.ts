/** The route of the MCP server. It also tells its calls from those of other routes. */
export const MCP_PATH = '/mcp';

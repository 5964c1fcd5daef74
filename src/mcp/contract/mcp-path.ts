/** The route of the MCP server, and of its calls among those of other routes. */
export const MCP_PATH = '/mcp';

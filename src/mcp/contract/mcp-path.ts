/** The route of the MCP server. The calls that its tools make are recorded with this path. */
export const MCP_PATH = '/mcp';

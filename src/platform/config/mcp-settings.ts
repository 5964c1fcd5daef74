import { setting } from './setting.ts';
import { flag, integer, origins } from './setting-types.ts';

/** Settings of the MCP server. */
export const MCP_SETTINGS = {
  mcp: setting('MCP', 'server', flag(true), 'Whether the MCP server at /mcp is there.'),
  mcpWaitS: setting(
    'MCP_WAIT_S',
    'server',
    integer(45, 0, 300),
    'Seconds that an MCP tool waits for its result when the call does not say.',
  ),
  mcpAllowedOrigins: setting(
    'MCP_ALLOWED_ORIGINS',
    'server',
    origins(),
    'Origins whose pages may call /mcp, beside those of PUBLIC_URL and CORS_ORIGINS.',
  ),
};

/**
 * The page that shows a task, in hosts of MCP Apps. The tools name it to every client, because a client that knows no
 * pages ignores it. So nothing has to be kept of what a client said in `initialize`.
 */
export const VIEWER_URI = 'ui://darkroom/viewer';
export const VIEWER_TYPE = 'text/html;profile=mcp-app';

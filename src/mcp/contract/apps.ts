/**
 * The page that shows a task, in hosts of MCP Apps. The tools name it to every client: who knows no pages ignores it, and so
 * nothing has to be kept of what a client said in `initialize`.
 */
export const VIEWER_URI = 'ui://darkroom/viewer';
export const VIEWER_TYPE = 'text/html;profile=mcp-app';
